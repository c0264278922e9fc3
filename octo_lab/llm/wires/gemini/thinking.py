"""How much a Gemini model is told to think, and what its generation wants."""

from __future__ import annotations

import re
from typing import Any

from octo_lab.core.messages import Effort
from octo_lab.llm.hints import ModelHints

# Tokens of thought that every 2.5 model takes: Pro from 128, Flash Lite from 512, Flash to 24576.
_BUDGETS: dict[Effort, int] = {"minimal": 512, "low": 1024, "medium": 8192, "high": 24576}
_OLD_PRO: dict[Effort, Effort] = {"minimal": "low", "medium": "high"}  # 3 Pro knows two levels
_GENERATION = re.compile(r"gemini-(\d+)(?:\.(\d+))?")


def generation(model: str) -> tuple[int, int]:
    """``gemini-2.5-flash`` is (2, 5); a name without a number means the newest one."""
    found = _GENERATION.match(model.lower().rpartition("/")[2])
    return (int(found[1]), int(found[2] or 0)) if found else (3, 1)


def thinking_config(effort: Effort | None, model: str, hints: ModelHints) -> dict[str, Any] | None:
    """The field that asks for thoughts; None for a model that is not known to think."""
    if not hints.effort:
        return None
    config: dict[str, Any] = {"includeThoughts": True}
    if effort is None:
        return config
    made = generation(model)
    if made < (3, 0):
        return {**config, "thinkingBudget": _BUDGETS[effort]}
    if effort == "minimal" and not hints.minimal:
        effort = "low"
    if made == (3, 0) and "pro" in model.lower():
        effort = _OLD_PRO.get(effort, effort)
    return {**config, "thinkingLevel": effort.upper()}
