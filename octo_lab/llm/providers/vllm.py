"""vLLM, wherever the user runs it: OpenAI-compatible, so this file is only facts."""

from __future__ import annotations

from octo_lab.llm.entry import ProviderEntry
from octo_lab.llm.providers.openai_compat import OpenAICompatible

ENTRY = ProviderEntry(
    name="vllm",
    base_url_env="VLLM_BASE_URL",
    api_key_env="VLLM_API_KEY",
    needs_key=False,
    create=OpenAICompatible,
)
