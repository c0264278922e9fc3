"""Z.AI, where GLM speaks Anthropic's dialect."""

from __future__ import annotations

from octo_lab.llm.entry import ProviderEntry
from octo_lab.llm.wires.anthropic.wire import ANTHROPIC

ENTRY = ProviderEntry(
    name="zai",
    wire=ANTHROPIC,
    aliases=("z.ai",),
    base_url="https://api.z.ai/api/anthropic",
    base_url_env="ZAI_BASE_URL",
    api_key_envs=("ZAI_API_KEY",),
    default_model="glm-5",
)
