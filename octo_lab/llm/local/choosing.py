"""Lets a choice of model know the servers that run on this machine."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from octo_lab.llm.local.loopback import FoundServer
from octo_lab.llm.registry import ModelChoice, ModelSetup

NAMES = {"ollama": "Ollama", "lmstudio": "LM Studio", "llamacpp": "a llama.cpp server"}


def with_found(setup: ModelSetup, servers: Sequence[FoundServer]) -> ModelSetup:
    """A setup in which these servers are connected."""
    return replace(setup, found={server.kind: server.base_url for server in servers})


def found_note(choice: ModelChoice) -> str:
    """What the person is told of a model that nobody configured."""
    server = NAMES[choice.entry.name]
    answers = f"No model is configured: {choice.model!r} of {server} on this machine answers."
    return f"{answers} {choice.note}".strip()
