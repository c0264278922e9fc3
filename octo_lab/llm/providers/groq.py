"""Groq: OpenAI-compatible, so this file is only facts."""

from __future__ import annotations

from octo_lab.llm.entry import ProviderEntry
from octo_lab.llm.wires.chat.wire import CHAT

ENTRY = ProviderEntry(
    name="groq",
    wire=CHAT,
    base_url="https://api.groq.com/openai/v1",
    base_url_env="GROQ_BASE_URL",
    api_key_envs=("GROQ_API_KEY",),
    default_model="llama-3.3-70b-versatile",
    detect=("llama", "mixtral"),
)
