"""What a workspace's files ask for, and how much of that the person trusts."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from octo_lab.config.demands import DOTENV, Demand, fingerprint
from octo_lab.config.paths import FOLDER, is_own
from octo_lab.config.reading import read_settings_file
from octo_lab.config.trust import Trust, trust_of
from octo_lab.core.errors import ConfigError

_SETTINGS = "config.json"
_MOST = 6  # names in a warning
_CODE = 16  # hexadecimal digits: nobody makes other settings that have the same
_DATABASE = "octo_lab.db"
_WORDS = ("persona.md", "user.md")


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """``demands`` is all that needs trust, ``left_out`` what of it would change something and is
    not obeyed. ``fingerprints`` are of the demands, by kind of file.
    """

    demands: tuple[Demand, ...] = field(default=(), repr=False)
    left_out: tuple[Demand, ...] = field(default=(), repr=False)
    fingerprints: Mapping[str, str] = field(default_factory=dict)
    trust: Trust = field(default_factory=Trust)

    @property
    def lines(self) -> tuple[str, ...]:
        """All that is demanded, for a person to judge."""
        return tuple(line for demand in self.demands for line in demand.lines)

    @property
    def code(self) -> str:
        """Names what is demanded now: who repeats it has seen this and nothing else."""
        return "-".join(mark[:_CODE] for mark in self.fingerprints.values() if mark) or "yes"

    @property
    def warning(self) -> str:
        """One line for the person with the next step; '' when all that the files say holds."""
        if not self.left_out:
            return ""
        names = [one.name for one in self.left_out]
        more = f" and {len(names) - _MOST} more" if len(names) > _MOST else ""
        return (
            f"{self._why}, so this is left out: {', '.join(names[:_MOST])}{more}."
            " `octo trust` (in a cell `%octo trust`) shows it and lets you allow it."
        )

    @property
    def state(self) -> str:
        """How it stands, in words, whether or not anything is wrong."""
        ok = "you trust this workspace" if self.demands else "nothing here needs your trust"
        return self.warning or self.trust.trouble or ok

    @property
    def _why(self) -> str:
        if self.trust.trouble:
            return self.trust.trouble
        if self.trust.known:
            return "This workspace asks for other things than those you trusted"
        return "You have not said that you trust this workspace"


def asked_of(
    settings: Sequence[Demand],
    variables: Sequence[Demand],
    *,
    workspace: Path,
    user_folder: Path,
    environ: Mapping[str, str],
    held: Mapping[str, str],
) -> Asked:
    """``environ`` are the variables of the process, ``held`` also those of the user's file."""
    marks = {_SETTINGS: fingerprint(settings), DOTENV: fingerprint(variables)}
    trust = trust_of(user_folder, workspace, environ, marks)
    new = [one for one in variables if held.get(one.path[-1]) != one.value]
    return Asked(
        demands=(*settings, *variables),
        left_out=() if trust.holds else (*settings, *new),
        fingerprints=marks,
        trust=trust,
    )


def with_folder(asked: Asked, workspace: Path, *, data: bool) -> Asked:
    """What else may have come with a repository: sessions, if ``data`` are looked for there, and
    words in the person's name.
    """
    folder = workspace / FOLDER
    if asked.trust.known or not is_own(folder):
        return asked
    found = [
        Demand(path=(f"{name} in {FOLDER}",), value=text)
        for name in _WORDS
        if (text := _text_of(folder / name).strip())
    ]
    if data and os.access(folder / _DATABASE, os.F_OK):
        found.append(Demand(path=(f"sessions in {FOLDER}",), value=_DATABASE))
    return replace(asked, demands=(*asked.demands, *found), left_out=(*asked.left_out, *found))


def _text_of(file: Path) -> str:
    try:
        return read_settings_file(file) or ""
    except (OSError, ConfigError) as exc:
        return str(exc)
