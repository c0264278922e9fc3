"""What the tools of one turn changed in the workspace."""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """One file as it was and as it is; None where there was, or is, no such file."""

    path: str
    before: bytes | None = field(repr=False)
    after: bytes | None = field(repr=False)


class Changes:
    """Filled by tools, read when the turn ends. ``unknown`` are changes nobody can take back."""

    def __init__(self) -> None:
        self.files: list[Change] = []
        self.unknown: list[str] = []

    def changed(self, path: str, before: bytes | None, after: bytes | None) -> None:
        self.files.append(Change(path=path, before=before, after=after))

    def unseen(self, what: str) -> None:
        """Something ran that may have changed anything: ``what`` says it for a person."""
        self.unknown.append(what)
