"""Reading ``.env`` files, into a mapping and never into the process."""

from __future__ import annotations

import re
from pathlib import Path

from octo_lab.config.reading import read_settings_file, unreadable
from octo_lab.core.errors import ConfigError

_LINE = re.compile(r"(?:export\s+)?(?P<name>[A-Za-z_][A-Za-z0-9_]*)\s*=\s*(?P<value>.*)")
_QUOTED = re.compile(
    r"""(?P<quote>["'])(?P<text>(?:\\.|(?!(?P=quote))[^\\])*)(?P=quote)\s*(\#.*)?"""
)
_ESCAPE = re.compile(r"\\(.)")
_ESCAPED = {"n": "\n", "r": "\r", "t": "\t"}


def read_dotenv(path: Path) -> dict[str, str]:
    """The variables of the file, none when there is no file; raises ConfigError."""
    try:
        text = read_settings_file(path)
    except OSError as exc:
        raise unreadable(path, exc) from exc
    return dict(_variables(path, text or ""))


def _variables(path: Path, text: str) -> list[tuple[str, str]]:
    lines = [(n, line.strip()) for n, line in enumerate(text.splitlines(), start=1)]
    return [_variable(path, n, line) for n, line in lines if line and not line.startswith("#")]


def _variable(path: Path, number: int, line: str) -> tuple[str, str]:
    match = _LINE.fullmatch(line)
    if match is None:
        raise ConfigError(f"{str(path)!r}, line {number} is no setting", hint="write NAME=value")
    return match["name"], _value(match["value"])


def _value(text: str) -> str:
    """Quotes are removed; a ``#`` after a blank begins a comment; "..." knows \\n, \\r, \\t."""
    if (quoted := _QUOTED.fullmatch(text)) is None:
        return re.split(r"(?:^|\s)#", text, maxsplit=1)[0].strip()
    if quoted["quote"] == "'":
        return quoted["text"]
    return _ESCAPE.sub(lambda m: _ESCAPED.get(m[1], m[1]), quoted["text"])
