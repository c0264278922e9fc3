"""Runs one contestant: a few turns to warm up, then the measured ones; prints CPU ms a turn."""

from __future__ import annotations

import asyncio
import gc
import json
import resource
import sys
import time
from collections.abc import Awaitable, Callable

Turn = Callable[[int], Awaitable[str]]


def expected(chunks: int) -> str:
    words = ("alpha ", "beta  ", "gamma ", "delta ", "omega ")
    return "".join(words[(n + n // 5) % 5] for n in range(chunks))


async def measure(turn: Turn, chunks: int, turns: int) -> None:
    """Every answer is checked, so that nobody wins by dropping text."""
    for number in range(3):
        assert (await turn(number)).strip() == expected(chunks).strip()
    gc.collect()  # what starting left behind is not a turn's
    started = time.process_time()
    for number in range(turns):
        assert (await turn(3 + number)).strip() == expected(chunks).strip()
    cpu = (time.process_time() - started) * 1000 / turns
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    print(json.dumps({"cpu_ms": cpu, "peak_kb": peak}))


def arguments() -> tuple[str, int, int]:
    base_url, chunks, turns = sys.argv[1:4]
    return base_url, int(chunks), int(turns)


def run(main: Callable[[], Awaitable[None]]) -> None:
    async def started() -> None:
        await main()

    asyncio.run(started())
