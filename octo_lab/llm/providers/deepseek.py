"""DeepSeek: OpenAI-compatible, so this file is only facts."""

from __future__ import annotations

from octo_lab.llm.entry import ProviderEntry
from octo_lab.llm.wires.chat.wire import CHAT

ENTRY = ProviderEntry(
    name="deepseek",
    wire=CHAT,
    base_url="https://api.deepseek.com/v1",
    base_url_env="DEEPSEEK_BASE_URL",
    api_key_envs=("DEEPSEEK_API_KEY",),
    default_model="deepseek-chat",
    detect=("deepseek",),
)
