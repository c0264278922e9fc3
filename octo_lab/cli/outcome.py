"""How a command ended."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """The exit code, and what went wrong, if anything."""

    code: int = 0
    error: str = ""
    hint: str = ""
