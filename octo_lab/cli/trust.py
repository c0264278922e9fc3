"""``octo trust``: what a workspace's files ask for, and the person's yes to it."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from pathlib import Path

from octo_lab.cli.connect import place_around, warned
from octo_lab.cli.outcome import Outcome
from octo_lab.cli.printer import printable
from octo_lab.config.paths import find_workspace, user_folder
from octo_lab.config.place import Place, find_place_again, trust_place
from octo_lab.config.process import process_environ, process_folder
from octo_lab.config.trust import read_trusted, revoke_trust
from octo_lab.core.errors import UsageError

DECLINED = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class TrustOptions:
    workspace: Path | None = None
    yes: bool = False
    listing: bool = False
    revoke: bool = False


def trust(options: TrustOptions) -> Outcome:
    """Raises UsageError where nobody can be asked."""
    if options.listing:
        return _list()
    if options.revoke:
        return _revoke(options.workspace)
    place = place_around(options.workspace)
    read_trusted(user_folder())
    _show(place)
    if place.asked.demands and not (options.yes or place.asked.trust.holds or _agrees()):
        sys.stdout.write("Not trusted: what it asks for stays left out.\n")
        return Outcome(code=DECLINED)
    trust_place(place)
    sys.stdout.write(printable(f"You trust {place.workspace}.") + "\n")
    return Outcome()


def asked_at_start(place: Place) -> Place:
    """The place after the person at the terminal was asked about what is left out of it."""
    if not place.warning or place.asked.trust.trouble:
        return warned(place)
    sys.stdout.write(printable(place.warning) + "\n")
    _show(place)
    if not _agrees():
        return place
    trust_place(place)
    return find_place_again(place)


def _show(place: Place) -> None:
    asked = place.asked
    if not asked.demands:
        sys.stdout.write(printable(f"Nothing in {place.workspace} needs your trust now.") + "\n")
        return
    sys.stdout.write(printable(f"The files of {place.workspace} ask for this:") + "\n")
    for line in asked.lines:
        sys.stdout.write(f"  {printable(line)}\n")


def _agrees() -> bool:
    if not sys.stdin.isatty():
        raise UsageError("Nobody can be asked here", hint="octo trust --yes allows it unasked")
    sys.stdout.write("Allow this, until it changes? [y/N] ")
    sys.stdout.flush()
    return sys.stdin.readline().strip().lower() in ("y", "yes")


def _list() -> Outcome:
    for name, kept in sorted(read_trusted(user_folder()).items()):
        gone = "" if Path(name).is_dir() else "  (no folder any more)"
        sys.stdout.write(printable(f"{kept.since}  {name}{gone}") + "\n")
    return Outcome()


def _revoke(workspace: Path | None) -> Outcome:
    """Also of a folder that is no more."""
    named = workspace or process_folder()
    folder = find_workspace(named, process_environ()) if workspace is None else named.resolve()
    if not revoke_trust(user_folder(), folder):
        return Outcome(
            code=DECLINED,
            error=f"{str(folder)!r} is not trusted",
            hint="octo trust --list names those that are",
        )
    sys.stdout.write(printable(f"You trust {folder} no more.") + "\n")
    return Outcome()
