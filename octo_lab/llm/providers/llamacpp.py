"""A llama.cpp server on this machine: OpenAI-compatible, so this file is only facts."""

from __future__ import annotations

from octo_lab.llm.entry import ProviderEntry
from octo_lab.llm.wires.chat.wire import CHAT

ENTRY = ProviderEntry(
    name="llamacpp",
    wire=CHAT,
    base_url="http://127.0.0.1:8080/v1",
    base_url_env="LLAMACPP_BASE_URL",
    api_key_envs=("LLAMA_API_KEY",),
    needs_key=False,
    aliases=("llama.cpp", "llama-cpp"),
)
