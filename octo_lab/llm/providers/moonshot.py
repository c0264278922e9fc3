"""Moonshot, the vendor of Kimi: OpenAI-compatible, so this file is only facts."""

from __future__ import annotations

from octo_lab.llm.entry import ProviderEntry
from octo_lab.llm.wires.chat.wire import CHAT

ENTRY = ProviderEntry(
    name="moonshot",
    wire=CHAT,
    aliases=("kimi",),
    base_url="https://api.moonshot.ai/v1",
    base_url_env="MOONSHOT_BASE_URL",
    api_key_envs=("MOONSHOT_API_KEY",),
    default_model="kimi-k2.5",
    detect=("kimi", "moonshot"),
)
