"""Joins the fragments of parallel tool calls."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any

from octo_lab.core.errors import Unavailable
from octo_lab.core.ids import new_id
from octo_lab.core.messages import ToolCall

MAX_CALLS = 128
MAX_ARGUMENTS = 8_000_000


@dataclass(slots=True)
class _Open:
    """A call that still grows."""

    id: str
    name: str = ""
    arguments: list[str] = field(default_factory=list)


class CallJoiner:
    """Fragments are told apart by index and id together.

    A new id opens a new call, whatever its index; without an index a fragment belongs to the
    call of its id, else to the last one, unless it names another function. ``names`` are the true
    names of functions that go by another.
    """

    def __init__(self, names: Mapping[str, str] = MappingProxyType({})) -> None:
        self._names = names
        self._calls: dict[tuple[int | None, str], _Open] = {}
        self._at: dict[int | None, _Open] = {}  # the call that an index means now
        self._last: _Open | None = None
        self._size = 0

    def add(self, fragment: Mapping[str, Any]) -> None:
        function = fragment.get("function")
        function = function if isinstance(function, Mapping) else {}
        index, name = fragment.get("index"), function.get("name")
        call = self._call(
            index if type(index) is int else None, fragment.get("id"), name if name else ""
        )
        if isinstance(name, str) and name != call.name:
            call.name += name
        self._argue(call, function.get("arguments"))

    def calls(self) -> list[ToolCall]:
        """The joined calls, in the order they were opened; ids are made unique and not blank."""
        seen: set[str] = set()
        calls: list[ToolCall] = []
        for call in self._calls.values():
            unique = call.id if call.id and call.id not in seen else f"call_{new_id()}"
            seen.add(unique)
            text = "".join(call.arguments)
            name = self._names.get(call.name, call.name)
            calls.append(ToolCall(id=unique, name=name, arguments=text if text.strip() else "{}"))
        return calls

    def _call(self, index: int | None, id: object, name: str) -> _Open:
        id = id if isinstance(id, str) else ""
        call = self._at.get(index) if index is not None else self._by_id(id, name)
        if call is None or (id and call.id and id != call.id):
            call = self._calls.get((index, id)) if id else None
        if call is None:
            call = self._open(index, id)
        call.id = call.id or id
        self._at[index] = self._last = call
        return call

    def _by_id(self, id: str, name: str) -> _Open | None:
        if id:
            return next((call for call in self._calls.values() if call.id == id), None)
        last = self._last
        return None if last is None or (name and last.name and last.arguments) else last

    def _open(self, index: int | None, id: str) -> _Open:
        if len(self._calls) >= MAX_CALLS:
            raise Unavailable(f"The model made more than {MAX_CALLS} tool calls at once")
        call = _Open(id)
        self._calls[(index, id or f"#{len(self._calls)}")] = call
        return call

    def _argue(self, call: _Open, arguments: object) -> None:
        if not arguments:
            return
        if isinstance(arguments, str):
            call.arguments.append(arguments)
        else:  # some servers send an object, and all of it
            call.arguments = [json.dumps(arguments, ensure_ascii=False)]
        self._size += len(call.arguments[-1])
        if self._size > MAX_ARGUMENTS:
            raise Unavailable("The arguments of the model's tool calls are too long")


def is_object(arguments: str) -> bool:
    """Whether a call's arguments are a whole JSON object."""
    try:
        return isinstance(json.loads(arguments), dict)
    except (ValueError, RecursionError):
        return False
