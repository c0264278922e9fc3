"""Reads what a server counts, whatever it sends in its place."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

MOST_TOKENS = 2**40  # more is a server's mistake, and would not fit where sums are kept


def count(value: object) -> int:
    """0 for what is no number of tokens."""
    return value if type(value) is int and 0 < value <= MOST_TOKENS else 0


def part(usage: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    """The object under a name; empty where there is none."""
    held = usage.get(name)
    return held if isinstance(held, Mapping) else {}
