"""Reads what an answer cost, in each vendor's words."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from octo_lab.core.messages import Usage

MOST_TOKENS = 2**40  # more is a server's mistake, and would not fit where sums are kept
MOST_DOLLARS = 1e6


def read_usage(usage: object) -> Usage:
    """Tokens as the vendor counts them, and the price where it names one; what a server does not
    know is 0. Cached tokens have another name with each of OpenAI, DeepSeek and Moonshot.
    """
    told = usage if isinstance(usage, Mapping) else {}
    asked, answered = _part(told, "prompt_tokens_details"), _part(told, "completion_tokens_details")
    cost = _dollars(told.get("cost"))
    return Usage(
        input_tokens=_count(told.get("prompt_tokens")),
        output_tokens=_count(told.get("completion_tokens")),
        cached_tokens=_count(asked.get("cached_tokens"))
        or _count(told.get("prompt_cache_hit_tokens"))
        or _count(told.get("cached_tokens")),
        written_tokens=_count(asked.get("cache_write_tokens")),
        reasoning_tokens=_count(answered.get("reasoning_tokens")),
        requests=1,
        cost=cost or 0.0,
        priced=int(cost is not None),
    )


def _part(usage: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    part = usage.get(name)
    return part if isinstance(part, Mapping) else {}


def _dollars(value: object) -> float | None:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    return float(value) if 0 <= value <= MOST_DOLLARS else None


def _count(value: object) -> int:
    return value if type(value) is int and 0 < value <= MOST_TOKENS else 0
