"""Named things in the order they were registered, found by name."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Iterator
from typing import Generic, Protocol, TypeVar

from octo_lab.core.errors import UsageError


class Named(Protocol):
    """Anything with a name of its own."""

    @property
    def name(self) -> str: ...


T = TypeVar("T", bound=Named)


class Registry(Generic[T]):
    """An ordered set of entries; a later entry of the same name replaces the earlier one."""

    def __init__(self, kind: str, entries: Iterable[T] = ()) -> None:
        self.kind = kind
        self._entries: dict[str, T] = {}
        for entry in entries:
            self.add(entry)

    def add(self, entry: T) -> None:
        self._entries[entry.name] = entry

    def remove(self, name: str) -> None:
        self._entries.pop(name, None)

    def find(self, name: str) -> T | None:
        return self._entries.get(name)

    def __getitem__(self, name: str) -> T:
        """The entry called ``name``; raises UsageError naming the nearest ones."""
        try:
            return self._entries[name]
        except KeyError:
            near = difflib.get_close_matches(name, self._entries, n=1)
            hint = f"did you mean {near[0]!r}?" if near else f"known: {', '.join(self._entries)}"
            raise UsageError(f"No {self.kind} named {name!r}", hint=hint) from None

    def __contains__(self, name: object) -> bool:
        return name in self._entries

    def __iter__(self) -> Iterator[T]:
        return iter(self._entries.values())

    def __len__(self) -> int:
        return len(self._entries)
