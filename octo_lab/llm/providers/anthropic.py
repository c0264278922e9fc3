"""Anthropic, and by ANTHROPIC_BASE_URL any server that speaks its messages."""

from __future__ import annotations

from octo_lab.llm.entry import ProviderEntry
from octo_lab.llm.wires.anthropic.wire import ANTHROPIC

ENTRY = ProviderEntry(
    name="anthropic",
    wire=ANTHROPIC,
    base_url="https://api.anthropic.com",
    base_url_env="ANTHROPIC_BASE_URL",
    api_key_envs=("ANTHROPIC_API_KEY",),
    default_model="claude-sonnet-4-20250514",
    detect=("claude",),
)
