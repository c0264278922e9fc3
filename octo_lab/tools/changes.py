"""What the tools of one turn changed in the workspace."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field


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


class Changes:
    """Filled by tools, from any thread; stored as the turn goes on.

    ``unknown`` are changes nobody can take back.
    """

    def __init__(self) -> None:
        self.files: list[Change] = []
        self.unknown: list[str] = []
        self._stored = (0, 0)

    def changed(
        self,
        path: str,
        before: bytes | None,
        after: bytes | None,
        *,
        mode: int = 0o644,
        made: int = 0,
        diff: str = "",
        call_id: str = "",
    ) -> None:
        self.files.append(
            Change(
                path=path,
                before=before,
                after=after,
                mode=mode,
                made=made,
                diff=diff,
                call_id=call_id,
            )
        )

    def unseen(self, what: str) -> None:
        """Something ran that may have changed anything: ``what`` says it for a person."""
        self.unknown.append(what)

    def diff_of(self, call_id: str) -> str:
        """What one call changed, for a person; empty when it changed no file."""
        return "".join(change.diff for change in list(self.files) if change.call_id == call_id)

    def unstored(self) -> tuple[Sequence[Change], Sequence[str]]:
        """The files and the unknown changes since ``stored`` was last told."""
        files, unknown = self._stored
        return self.files[files:], self.unknown[unknown:]

    def stored(self, files: int, unknown: int) -> None:
        """So many more of each are kept."""
        self._stored = (self._stored[0] + files, self._stored[1] + unknown)
