"""Ollama on this machine: OpenAI-compatible, so this file is only facts."""

from __future__ import annotations

from octo_lab.llm.entry import ProviderEntry
from octo_lab.llm.providers.openai import wire_for

ENTRY = ProviderEntry(
    name="ollama",
    wire_for=wire_for,
    base_url="http://localhost:11434/v1",
    base_url_env="OLLAMA_BASE_URL",
    default_model="llama3.2",
    needs_key=False,
)
