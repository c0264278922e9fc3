"""Reads what an answer cost, in each vendor's words."""

from __future__ import annotations

from collections.abc import Mapping

from octo_lab.core.messages import Usage
from octo_lab.llm.wires.counts import count, part

MOST_DOLLARS = 1e6


def read_usage(usage: object) -> Usage:
    """Tokens as the vendor counts them, and the price where it names one; what a server does not
    know is 0. Cached tokens have another name with each of OpenAI, DeepSeek and Moonshot.
    """
    told = usage if isinstance(usage, Mapping) else {}
    asked, answered = part(told, "prompt_tokens_details"), part(told, "completion_tokens_details")
    cost = _dollars(told.get("cost"))
    taken, given = count(told.get("prompt_tokens")), count(told.get("completion_tokens"))
    cached = count(asked.get("cached_tokens"))
    cached = cached or count(told.get("prompt_cache_hit_tokens"))
    cached = min(cached or count(told.get("cached_tokens")), taken)
    return Usage(
        input_tokens=taken,
        output_tokens=given,
        cached_tokens=cached,
        written_tokens=min(count(asked.get("cache_write_tokens")), taken - cached),
        reasoning_tokens=min(count(answered.get("reasoning_tokens")), given),
        requests=1,
        cost=cost or 0.0,
        priced=int(cost is not None),
    )


def _dollars(value: object) -> float | None:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    return float(value) if 0 <= value <= MOST_DOLLARS else None
