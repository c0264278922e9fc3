"""LM Studio on this machine: OpenAI-compatible, so this file is only facts."""

from __future__ import annotations

from octo_lab.llm.entry import ProviderEntry
from octo_lab.llm.providers.openai import wire_for

ENTRY = ProviderEntry(
    name="lmstudio",
    wire_for=wire_for,
    base_url="http://127.0.0.1:1234/v1",
    base_url_env="LMSTUDIO_BASE_URL",
    api_key_envs=("LMSTUDIO_API_KEY",),
    needs_key=False,
    aliases=("lm-studio", "lm_studio"),
)
