"""NVIDIA NIM: OpenAI-compatible, so this file is only facts."""

from __future__ import annotations

from octo_lab.llm.entry import ProviderEntry
from octo_lab.llm.wires.chat.wire import CHAT

ENTRY = ProviderEntry(
    name="nvidia",
    wire=CHAT,
    aliases=("nim",),
    base_url="https://integrate.api.nvidia.com/v1",
    base_url_env="NVIDIA_BASE_URL",
    api_key_envs=("NVIDIA_API_KEY",),
    default_model="meta/llama-3.3-70b-instruct",
)
