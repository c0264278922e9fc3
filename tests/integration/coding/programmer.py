"""A model that works as a programmer does: each answer follows from what its tools just said."""

from __future__ import annotations

import json
from collections.abc import Generator, Sequence
from itertools import count
from typing import Any

from octo_lab.testing.llm_script import Call, Json, Turn, calls, says

Work = Generator[Sequence[Call], list[str], str]
"""Yields calls, is sent their results in order, returns what it says at the end."""


class Programmer:
    """One answer for each request; ``failure`` is what it did not expect."""

    def __init__(self, work: Work) -> None:
        self._work = work
        self._begun = False
        self.failure: Exception | None = None

    def __call__(self, request: Json) -> Turn:
        try:
            made = self._work.send(results(request)) if self._begun else next(self._work)
            self._begun = True
        except StopIteration as end:
            return says(str(end.value))
        except (AssertionError, LookupError, RuntimeError) as exc:
            self.failure = exc
            return says(f"I give up: {exc!r}")
        return calls(*made)


def results(request: Json) -> list[str]:
    """What the newest calls gave, in the order of the calls."""
    said: list[str] = []
    for message in reversed(request["messages"]):
        if message["role"] != "tool":
            break
        said.insert(0, message["content"])
    return said


_ids = count(1)


def asking(name: str, **arguments: Any) -> Call:
    return Call(name=name, arguments=json.dumps(arguments), id=f"call_{next(_ids)}")


def use(name: str, **arguments: Any) -> Work:
    """Make one call; gives its result."""
    (result,) = yield [asking(name, **arguments)]
    return result


def run(command: str) -> Work:
    """Run the tests; their output begins with what is process 1 where they run."""
    return (yield from use("shell", command=f"cat /proc/1/comm; {command}"))


def expect(text: str, *words: str) -> str:
    """The text, in which all words must be: who sees something else does not go on."""
    missing = [word for word in words if word not in text]
    if missing:
        raise LookupError(f"{missing} not in {text!r}")
    return text


def lines(shown: str) -> dict[int, str]:
    """What read_file shows, by number."""
    parts = (line.partition("|") for line in shown.split("\n"))
    return {int(number): text for number, bar, text in parts if bar and number.isdigit()}
