from __future__ import annotations

from dataclasses import dataclass, field, replace
from pathlib import Path

import pytest

from octo_lab.core.errors import ToolFailed
from octo_lab.tools.changes import Change, Changes
from octo_lab.tools.editing import edit_file
from octo_lab.tools.tool import ToolContext


@dataclass
class Kept:
    """A ledger in memory; ``seen`` is what each file held when a change of it was kept."""

    folder: Path
    full: bool = False
    rows: dict[int, Change] = field(default_factory=dict)
    seen: list[bytes | None] = field(default_factory=list)
    last: int = 0

    def keep(self, change: Change) -> int:
        file = self.folder / change.path
        self.seen.append(file.read_bytes() if file.exists() else None)
        if self.full:
            return 0
        self.last += 1
        self.rows[self.last] = change
        return self.last

    def drop(self, number: int) -> None:
        del self.rows[number]

    async def note(self, what: str) -> bool:
        return not self.full


@pytest.fixture
def ledger(tmp_path: Path) -> Kept:
    return Kept(tmp_path)


@pytest.fixture
def here(ctx: ToolContext, ledger: Kept) -> ToolContext:
    return replace(ctx, changes=Changes(ledger))


def test_a_change_is_kept_as_it_will_be_before_it_is_made(here: ToolContext, ledger: Kept) -> None:
    (here.workspace / "a.sh").write_bytes(b"old")
    (here.workspace / "a.sh").chmod(0o750)

    edit_file(here, "a.sh", lambda _: b"new")
    edit_file(here, "x/y/made", lambda _: b"")
    edit_file(here, "a.sh", lambda _: None)

    mode = (here.workspace / "x/y/made").stat().st_mode & 0o777
    rows = [(row.path, row.before, row.after, row.mode, row.made) for row in ledger.rows.values()]
    assert rows == [
        ("a.sh", b"old", b"new", 0o750, 0),
        ("x/y/made", None, b"", mode, 2),
        ("a.sh", b"new", None, 0o750, 0),
    ]
    assert ledger.seen == [b"old", None, b"new"]
    assert here.changes.files == [*ledger.rows.values()]
    assert here.changes.unstored() == ((), [])


def test_what_changes_nothing_is_not_kept(here: ToolContext, ledger: Kept) -> None:
    (here.workspace / "a").write_bytes(b"same")

    edit_file(here, "a", lambda _: b"same")

    assert (ledger.last, here.changes.files) == (0, [])


def test_a_change_that_had_to_be_made_anew_is_kept_once(here: ToolContext, ledger: Kept) -> None:
    """Somebody else wrote between the look and the change."""
    file = here.workspace / "a"
    file.write_bytes(b"1")

    def change(data: bytes | None) -> bytes:
        if data == b"1":
            file.write_bytes(b"2")
        return (data or b"") + b"!"

    edit_file(here, "a", change)

    assert file.read_bytes() == b"2!"
    assert [(row.before, row.after) for row in ledger.rows.values()] == [(b"2", b"2!")]


def test_a_change_that_failed_is_dropped(ledger: Kept) -> None:
    changes = Changes(ledger)

    def fail() -> None:
        with changes.making() as tell:
            tell(Change(path="a", before=b"1", after=b"2"))
            tell(Change(path="a", before=b"2", after=b"3"))
            raise ToolFailed("the disk is full")

    with pytest.raises(ToolFailed):
        fail()

    assert (ledger.last, ledger.rows, changes.files, changes.unstored()) == (2, {}, [], ((), []))


def test_what_could_not_be_kept_is_made_all_the_same_and_left_to_be_stored(
    here: ToolContext, ledger: Kept
) -> None:
    ledger.full = True

    edit_file(here, "a", lambda _: b"x")

    assert (here.workspace / "a").read_bytes() == b"x"
    assert here.changes.unstored() == (tuple(here.changes.files), [])
    here.changes.stored(1, 0)
    assert here.changes.unstored() == ((), [])


@pytest.mark.anyio
async def test_what_runs_unseen_is_noted_or_left_to_be_stored(ledger: Kept) -> None:
    changes = Changes(ledger)

    await changes.unseen("shell: make")
    ledger.full = True
    await changes.unseen("shell: make all")

    assert changes.unstored() == ((), ["shell: make all"])
