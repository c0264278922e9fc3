"""What the tools of one turn changed in the workspace."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Protocol


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """One file as it was and as it is; None where there was, or is, no such file.

    ``mode`` are its permissions, ``made`` is how many folders above it were made for it.
    ``diff`` shows it to a person, ``call_id`` is the call that did it.
    """

    path: str
    before: bytes | None = field(repr=False)
    after: bytes | None = field(repr=False)
    mode: int = 0o644
    made: int = 0
    diff: str = field(default="", repr=False)
    call_id: str = ""


class Ledger(Protocol):
    """Keeps changes so that they outlive the process."""

    def keep(self, change: Change) -> int:
        """The number of what is kept now, else 0. Called in a worker thread of the loop."""
        ...

    def drop(self, number: int) -> None:
        """It did not come to this change after all. Called as ``keep``."""
        ...

    async def note(self, what: str) -> bool:
        """Keep that something nobody can take back may happen now; whether it is kept."""
        ...


class NoLedger:
    """Where nothing outlives the process."""

    def keep(self, change: Change) -> int:
        return 0

    def drop(self, number: int) -> None:
        return None

    async def note(self, what: str) -> bool:
        return False


class Changes:
    """Filled by tools, from any thread. What the ledger could not keep is left to be stored.

    ``unknown`` are such changes that nobody can take back.
    """

    def __init__(self, ledger: Ledger = NoLedger()) -> None:
        self.files: list[Change] = []
        self.unknown: list[str] = []
        self._ledger = ledger
        self._unkept: list[Change] = []
        self._stored = 0

    @contextmanager
    def making(self) -> Iterator[Callable[[Change], None]]:
        """Gives what is to be told of a change before it is made: the ledger keeps it then, so
        that it can be taken back even if nothing after it happens any more.

        Told again, the first did not come about; nor did the last when this ends by an error.
        """
        told: list[tuple[Change, int]] = []

        def drop() -> None:
            while told:
                self._drop(told.pop()[1])

        def tell(change: Change) -> None:
            drop()
            told.append((change, self._ledger.keep(change)))

        try:
            yield tell
        except BaseException:
            drop()
            raise
        for change, number in told:
            self.files.append(change)
            if not number:
                self._unkept.append(change)

    def _drop(self, number: int) -> None:
        if number:
            self._ledger.drop(number)

    async def unseen(self, what: str) -> None:
        """Something runs now that may change anything: ``what`` says it for a person."""
        if not await self._ledger.note(what):
            self.unknown.append(what)

    def diff_of(self, call_id: str) -> str:
        """What one call changed, for a person; empty when it changed no file."""
        return "".join(change.diff for change in list(self.files) if change.call_id == call_id)

    def unstored(self) -> tuple[Sequence[Change], Sequence[str]]:
        """The files that are not kept, and the unknown changes since ``stored`` was told."""
        return tuple(self._unkept), self.unknown[self._stored :]

    def stored(self, files: int, unknown: int) -> None:
        """So many more of each are kept."""
        del self._unkept[:files]
        self._stored += unknown
