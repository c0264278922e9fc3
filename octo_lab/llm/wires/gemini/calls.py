"""Collects the function calls of one answer: whole ones, and those whose arguments stream."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

from pydantic_core import to_json

from octo_lab.core.errors import Unavailable
from octo_lab.core.messages import Message, ToolCall

MAX_CALLS = 128
MAX_ITEMS = 10_000
_STEP = re.compile(
    r"\.([^.\[\]]+)|\[(\d{1,6})\]|\['((?:[^'\\]|\\.)*)'\]|\[\"((?:[^\"\\]|\\.)*)\"\]"
)
_VALUES = ("stringValue", "numberValue", "boolValue", "nullValue")


@dataclass(slots=True)
class _Open:
    id: str
    name: str
    args: dict[str, Any] = field(default_factory=dict)
    growing: bool = False


class Calls:
    """``add`` takes ``functionCall`` objects in order and says the id of each.

    A call without an id gets ``call_N``, where N goes on from the calls before the answer.
    """

    def __init__(self, taken: set[str], before: int) -> None:
        self._taken = taken
        self._count = before
        self._calls: list[_Open] = []

    def __bool__(self) -> bool:
        return bool(self._calls)

    def add(self, call: Mapping[str, Any]) -> str | None:
        """The id of the call that begins here; None when it goes on with the last one."""
        last = self._calls[-1] if self._calls else None
        name = call.get("name")
        if last is not None and last.growing and (not name or name == last.name):
            self._grow(last, call)
            return None
        if len(self._calls) >= MAX_CALLS:
            raise Unavailable(f"The model made more than {MAX_CALLS} tool calls at once")
        made = _Open(id=self._id(call.get("id")), name=str(name or ""))
        self._calls.append(made)
        self._grow(made, call)
        return made.id

    def made(self, own_names: Mapping[str, str]) -> list[ToolCall]:
        """The whole calls, with the names by which they are known here."""
        return [
            ToolCall(
                id=call.id,
                name=own_names.get(call.name, call.name),
                arguments=_text(call.args),
            )
            for call in self._calls
            if not call.growing
        ]

    def _id(self, given: object) -> str:
        id = given if isinstance(given, str) and given.strip() else ""
        while not id or id in self._taken:
            self._count += 1
            id = f"call_{self._count}"
        self._taken.add(id)
        return id

    @staticmethod
    def _grow(call: _Open, piece: Mapping[str, Any]) -> None:
        args = piece.get("args")
        if isinstance(args, Mapping):
            call.args.update(args)
        for part in piece.get("partialArgs") or ():
            _put(call.args, str(part.get("jsonPath", "")), part)
        call.growing = piece.get("willContinue") is True


def _text(args: dict[str, Any]) -> str:
    try:
        return to_json(args).decode()
    except ValueError:  # nested deeper than the fast writer goes
        return json.dumps(args, ensure_ascii=False)


def _put(args: dict[str, Any], path: str, part: Mapping[str, Any]) -> None:
    """Set, or where it is a text lengthen, the value at a path such as ``$.a[0].b``."""
    steps = [
        int(found[2]) if found[2] else found[1] or found[3] or found[4]
        for found in _STEP.finditer(path.removeprefix("$"))
    ]
    kind = next((name for name in _VALUES if name in part), None)
    if not steps or kind is None:
        return
    value = None if kind == "nullValue" else part[kind]
    place: Any = args
    for step, following in pairwise(steps):
        place = _at(place, step, [] if isinstance(following, int) else {})
    held = _at(place, steps[-1], None)
    longer = isinstance(held, str) and isinstance(value, str)
    place[steps[-1]] = f"{held}{value}" if longer else value


def _at(place: Any, step: int | str, fresh: Any) -> Any:
    """What is at the step, made where nothing is; raises TypeError for a path that fits not."""
    if isinstance(place, list) and isinstance(step, int):
        if step > min(len(place), MAX_ITEMS):
            raise TypeError("a path leaves items out")
        if step == len(place):
            place.append(fresh)
    elif isinstance(place, dict) and isinstance(step, str):
        place.setdefault(step, fresh)
    else:
        raise TypeError("a path does not fit the value")
    return place[step]


def taken_ids(messages: Sequence[Message]) -> tuple[set[str], int]:
    """The ids that calls of a history have, and how many there are."""
    ids = [call.id for message in messages for call in message.tool_calls]
    return set(ids), len(ids)
