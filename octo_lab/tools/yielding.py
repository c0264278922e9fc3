"""Drives a generator as a tool: each yield is a line of progress, the last value the result."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from contextlib import aclosing, closing
from typing import Any

from octo_lab.tools.answer import as_result

Report = Callable[[str], None]


def is_async(function: Callable[..., Any]) -> bool:
    """Whether a call of ``function`` must be awaited."""
    return inspect.iscoroutinefunction(function) or inspect.isasyncgenfunction(function)


def exhaust(value: Any, report: Report) -> Any:
    """What a sync function gave; of a generator its return value, else its last yield."""
    return _exhausted(value, report) if inspect.isgenerator(value) else value


async def exhaust_async(value: Any, report: Report) -> Any:
    """What an async function gave; of an async generator its last yield."""
    return await (_exhausted_async(value, report) if inspect.isasyncgen(value) else value)


def _exhausted(steps: Any, report: Report) -> Any:
    last = None
    with closing(steps):
        while True:
            try:
                last = next(steps)
            except StopIteration as end:
                return last if end.value is None else end.value
            report(_line(last))


async def _exhausted_async(steps: Any, report: Report) -> Any:
    last = None
    async with aclosing(steps):
        async for last in steps:
            report(_line(last))
    return last


def _line(value: object) -> str:
    return f"{as_result(value).text}\n"
