"""A key that does not show itself."""

from __future__ import annotations


class Secret:
    """Wraps a key: ``repr``, ``str`` and formatting are masked; ``reveal()`` gives the text.

    Compares by value; cannot be pickled or turned into JSON by accident.
    """

    __slots__ = ("_value",)

    def __init__(self, value: str) -> None:
        self._value = value

    def reveal(self) -> str:
        return self._value

    @property
    def masked(self) -> str:
        """Enough to recognise a long key by: its first three and last two characters."""
        return f"{self._value[:3]}…{self._value[-2:]}" if len(self._value) >= 16 else "…"

    def __repr__(self) -> str:
        return f"Secret({self.masked!r})"

    def __str__(self) -> str:
        return self.masked

    def __bool__(self) -> bool:
        return bool(self._value)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Secret) and other._value == self._value

    def __hash__(self) -> int:
        return hash(self._value)

    def __reduce__(self) -> str:
        raise TypeError("A Secret is not serialised")
