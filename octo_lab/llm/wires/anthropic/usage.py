"""Reads what an answer cost, from totals that grow while it comes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from octo_lab.core.messages import Usage
from octo_lab.llm.wires.counts import MOST_TOKENS

_NAMES = (
    *("input_tokens", "output_tokens", "cache_read_input_tokens"),
    *("cache_creation_input_tokens", "thinking_tokens"),
)


class Totals:
    """Running totals: the greatest counts, for some hosts know the input only at the end."""

    def __init__(self) -> None:
        self._counts: dict[str, int] = {}

    def take(self, usage: object) -> None:
        if not isinstance(usage, Mapping):
            return
        details = usage.get("output_tokens_details")
        told: Mapping[str, Any] = {**usage, **(details if isinstance(details, Mapping) else {})}
        for name in _NAMES:
            value = told.get(name)
            if type(value) is int and 0 <= value <= MOST_TOKENS:
                self._counts[name] = max(value, self._counts.get(name, 0))

    def usage(self) -> Usage | None:
        """None while nothing was told. The vendor counts what its cache read and wrote apart."""
        if not self._counts:
            return None
        taken, given, read, written, thought = (self._counts.get(name, 0) for name in _NAMES)
        return Usage(
            input_tokens=taken + read + written,
            output_tokens=given,
            cached_tokens=read,
            written_tokens=written,
            reasoning_tokens=thought,
            requests=1,
        )
