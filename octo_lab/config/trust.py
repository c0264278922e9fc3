"""Which workspaces the person trusts: kept in the person's own folder, never in a workspace."""

from __future__ import annotations

import fcntl
import json
import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import date
from pathlib import Path

from pydantic import BaseModel, ConfigDict, ValidationError

from octo_lab.config.replace import replace_file
from octo_lab.core.clock import utc_now
from octo_lab.core.errors import ConfigError

FILE = "trusted.json"
LOCK = "trusted.lock"
VARIABLE = "OCTO_TRUST_WORKSPACE"
Fingerprints = Mapping[str, str]


class Trusted(BaseModel):
    """What was trusted, by kind of file, and when."""

    model_config = ConfigDict(frozen=True)

    fingerprints: dict[str, str] = {}
    since: date


class _Everything(BaseModel):
    model_config = ConfigDict(hide_input_in_errors=True)

    version: int = 1
    workspaces: dict[str, Trusted] = {}


@dataclass(frozen=True, slots=True, kw_only=True)
class Trust:
    """``known``: the person trusted this workspace once, ``holds``: as it is now. ``trouble`` is
    why nobody can say.
    """

    known: bool = False
    holds: bool = False
    trouble: str = ""


def trust_of(
    folder: Path, workspace: Path, environ: Mapping[str, str], fingerprints: Fingerprints
) -> Trust:
    """What the files of the user's folder say of a workspace whose files demand this now. A list
    that cannot be read trusts nothing. ``environ`` are the variables of the process alone.
    """
    if environ.get(VARIABLE, "").strip().lower() in ("1", "true", "yes", "on"):
        return Trust(known=True, holds=True)
    try:
        kept = read_trusted(folder).get(_name(workspace))
    except ConfigError as exc:
        return Trust(trouble=str(exc))
    if kept is None:
        return Trust()
    demanded = {kind: mark for kind, mark in fingerprints.items() if mark}
    return Trust(known=True, holds=demanded.items() <= kept.fingerprints.items())


def read_trusted(folder: Path) -> dict[str, Trusted]:
    """By real path; raises ConfigError."""
    file = folder / FILE
    try:
        return _Everything.model_validate_json(file.read_bytes()).workspaces
    except (FileNotFoundError, NotADirectoryError):
        return {}
    except OSError as exc:
        reason = f"{exc.strerror}"
    except ValidationError:
        reason = "it is damaged"
    raise ConfigError(
        f"Cannot read {str(file)!r}, so no workspace is trusted: {reason}",
        hint="repair or remove it, then trust anew",
    )


def keep_trust(folder: Path, workspace: Path, fingerprints: Fingerprints) -> None:
    """Trust what a workspace's files demand now; raises ConfigError."""
    marks = {kind: mark for kind, mark in fingerprints.items() if mark}
    new = Trusted(fingerprints=marks, since=utc_now().date())
    _change(folder, lambda workspaces: workspaces.update({_name(workspace): new}))


def revoke_trust(folder: Path, workspace: Path) -> bool:
    """False when it was not trusted; raises ConfigError."""
    gone: list[Trusted | None] = []
    _change(folder, lambda workspaces: gone.append(workspaces.pop(_name(workspace), None)))
    return gone != [None]


def _name(workspace: Path) -> str:
    """Its real path; bytes that are no text are written as such."""
    return os.fsencode(os.path.realpath(workspace)).decode(errors="backslashreplace")


def _change(folder: Path, change: Callable[[dict[str, Trusted]], object]) -> None:
    try:
        with _alone(folder):
            workspaces = read_trusted(folder)
            change(workspaces)
            dumped = _Everything(workspaces=workspaces).model_dump(mode="json")
            replace_file(folder / FILE, json.dumps(dumped, indent=2) + "\n", mode=0o600)
    except OSError as exc:
        raise ConfigError(
            f"Cannot write {str(folder / FILE)!r}: {exc.strerror}", hint="may you write there?"
        ) from exc


@contextmanager
def _alone(folder: Path) -> Iterator[None]:
    """No other process changes the list meanwhile."""
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    descriptor = os.open(folder / LOCK, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield
    finally:
        os.close(descriptor)
