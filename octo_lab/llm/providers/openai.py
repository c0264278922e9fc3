"""OpenAI, and by OPENAI_BASE_URL any server that speaks its chat-completions."""

from __future__ import annotations

from octo_lab.llm.entry import ProviderEntry
from octo_lab.llm.wires.chat.wire import CHAT

ENTRY = ProviderEntry(
    name="openai",
    wire=CHAT,
    base_url="https://api.openai.com/v1",
    base_url_env="OPENAI_BASE_URL",
    api_key_envs=("OPENAI_API_KEY",),
    default_model="gpt-4o",
    prefixes=("o1", "o3", "o4"),
    detect=("gpt",),
)
