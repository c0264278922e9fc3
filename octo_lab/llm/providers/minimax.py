"""MiniMax: OpenAI-compatible, so this file is only facts."""

from __future__ import annotations

from octo_lab.llm.entry import ProviderEntry
from octo_lab.llm.wires.chat.wire import CHAT

ENTRY = ProviderEntry(
    name="minimax",
    wire=CHAT,
    base_url="https://api.minimax.io/v1",
    base_url_env="MINIMAX_BASE_URL",
    api_key_envs=("MINIMAX_API_KEY",),
    default_model="MiniMax-Text-01",
    detect=("minimax",),
)
