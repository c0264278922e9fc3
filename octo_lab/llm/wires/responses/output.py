"""What the output items of one answer have said so far: each character once, each call whole."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from octo_lab.core.errors import Unavailable
from octo_lab.core.ids import new_id
from octo_lab.core.messages import ToolCall
from octo_lab.llm.tool_calls import MAX_ARGUMENTS, MAX_CALLS

MAX_PARTS = 4096
Json = Mapping[str, Any]
Key = tuple[str, int, int]  # kind of part, place of the item, index of the part


class Places:
    """Where an item stands in the output: its index, else where its id was seen before."""

    def __init__(self) -> None:
        self._of: dict[str, int] = {}
        self._next = 0

    def of(self, index: object, *ids: object) -> int:
        """The place of an item, old or new."""
        place = index if type(index) is int and index >= 0 else self.known(*ids)
        place = self._next if place is None else place
        if len(self._of) > MAX_PARTS:
            raise Unavailable(f"The answer has more than {MAX_PARTS} items")
        for id in ids:
            if isinstance(id, str) and id:
                self._of[id] = place
        self._next = max(self._next, place + 1)
        return place

    def known(self, *ids: object) -> int | None:
        return next((self._of[id] for id in ids if isinstance(id, str) and id in self._of), None)


class Spoken:
    """Text that comes in pieces, and then once more whole. Paragraphs are set apart."""

    def __init__(self) -> None:
        self._sizes: dict[Key, int] = {}
        self._paragraph: tuple[object, ...] = ()

    def more(self, key: Key, paragraph: tuple[object, ...], text: str) -> str:
        """What to say of a further piece."""
        if not text:
            return ""
        if len(self._sizes) > MAX_PARTS:
            raise Unavailable(f"The answer has more than {MAX_PARTS} parts")
        self._sizes[key] = self._sizes.get(key, 0) + len(text)
        begun, self._paragraph = self._paragraph, paragraph
        return f"\n\n{text}" if begun and begun != paragraph else text

    def whole(self, key: Key, paragraph: tuple[object, ...], text: str) -> str:
        """What to say of a whole part: the end that its pieces lacked."""
        return self.more(key, paragraph, text[self._sizes.get(key, 0) :])


@dataclass(slots=True)
class _Open:
    """A call that still grows; ``whole`` are its arguments once they are known to the end."""

    id: str = ""
    name: str = ""
    pieces: list[str] = field(default_factory=list)
    whole: str | None = None

    @property
    def arguments(self) -> str:
        text = "".join(self.pieces) if self.whole is None else self.whole
        return text if text.strip() else "{}"


class Calls:
    """The function calls of an answer, by the place of their items."""

    def __init__(self) -> None:
        self._open: dict[int, _Open] = {}
        self._size = 0

    def head(self, place: int, item: Json) -> None:
        """Who is called: told when the item begins, and again at its end."""
        call = self._at(place)
        call.id = _text(item.get("call_id")) or call.id
        call.name = _text(item.get("name")) or call.name

    def grow(self, place: int, piece: object) -> None:
        text = _text(piece)
        self._count(text)
        self._at(place).pieces.append(text)

    def settle(self, place: int, arguments: object) -> None:
        """The whole arguments; nothing leaves them as their pieces told."""
        text = _text(arguments)
        if text:
            call = self._at(place)
            self._size -= len(call.whole or "")
            self._count(text)
            call.whole = text

    def calls(self, names: Mapping[str, str]) -> list[ToolCall]:
        """In their order; ids are made unique and not blank, ``names`` gives aliases back."""
        seen: set[str] = set()
        calls: list[ToolCall] = []
        for _, call in sorted(self._open.items()):
            id = call.id if call.id and call.id not in seen else f"call_{new_id()}"
            seen.add(id)
            name = names.get(call.name, call.name)
            calls.append(ToolCall(id=id, name=name, arguments=call.arguments))
        return calls

    def _at(self, place: int) -> _Open:
        if place not in self._open and len(self._open) >= MAX_CALLS:
            raise Unavailable(f"The model made more than {MAX_CALLS} tool calls at once")
        return self._open.setdefault(place, _Open())

    def _count(self, text: str) -> None:
        self._size += len(text)
        if self._size > 2 * MAX_ARGUMENTS:  # each comes in pieces and once more whole
            raise Unavailable("The arguments of the model's tool calls are too long")


def _text(value: object) -> str:
    return value if isinstance(value, str) else ""
