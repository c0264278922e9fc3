"""vLLM, wherever the user runs it: OpenAI-compatible, so this file is only facts."""

from __future__ import annotations

from octo_lab.llm.entry import ProviderEntry
from octo_lab.llm.providers.openai import wire_for

ENTRY = ProviderEntry(
    name="vllm",
    wire_for=wire_for,
    base_url_env="VLLM_BASE_URL",
    api_key_envs=("VLLM_API_KEY",),
    dummy_key="token",
    needs_key=False,
)
