"""Asks ripgrep which files may hold a match, so that only those are read.

What it names is searched again, through the walls of the workspace: it saves time, no more.
"""

from __future__ import annotations

import re
import subprocess
import sysconfig
from collections.abc import Callable, Iterable
from functools import cache
from pathlib import Path

from octo_lab.security.paths import Enclosure

_TOKENS = re.compile(
    r"""\\(?P<escaped>.) | (?P<class>\[\^?\]?(?:\\.|[^\]\\])*\]) | (?P<group>\(\?(?::|i\))?)
    | (?P<end>\$) | (?P<plain>.)""",
    re.VERBOSE | re.DOTALL,
)
_CLASSES = {"w": "0-9A-Za-z_", "d": "0-9", "s": r"\t\n\f\r "}
_SAME = frozenset("tfva")
_BOUNDS = {"b": r"(?-u:\b)", "B": r"(?-u:\B)"}
_OPTIONS = (
    *("--no-config", "--files-with-matches", "--null", "--no-messages", "--color=never"),
    *("--no-follow", "--hidden", "--text", "--no-require-git", "--no-ignore-parent"),
    *("--no-ignore-dot", "--no-ignore-global", "--no-ignore-exclude"),
)
_PAUSE = 0.1


def may_match(
    files: Enclosure,
    pattern: str,
    *,
    ignore_case: bool,
    skipped: Iterable[str],
    check: Callable[[], None],
) -> list[str] | None:
    """The files of the whole workspace that may hold a match of an RE2 pattern, a folder's own
    before those deeper; None where ripgrep cannot tell.

    Folders named in ``skipped`` are left out. ``check`` is called now and then and may raise.
    """
    program, translated = _program(), rust_pattern(pattern)
    if program is None or translated is None:
        return None
    without = [f"!**/{name}/" for name in sorted(skipped)]
    without += [f"!/{_literal(name)}/" for name in _private(files)]
    argv = [
        str(program),
        *_OPTIONS,
        *(f"--glob={glob}" for glob in without),
        *(["--ignore-case"] if ignore_case else ["--case-sensitive"]),
        f"--regexp={translated}",
        "--",
        "./",
    ]
    found = _output(argv, files.root, check)
    if found is None:
        return None
    names = [name.removeprefix("./") for name in found.split("\0") if name]
    return sorted(names, key=_place)


def rust_pattern(pattern: str) -> str | None:
    """A pattern for ripgrep that fits at least the lines that the RE2 pattern fits; None where
    the two differ too much.
    """
    if any(not _ends(pattern, match.end()) for match in _TOKENS.finditer(pattern) if match["end"]):
        return None
    parts = [_token(match) for match in _TOKENS.finditer(pattern)]
    kept = [part for part in parts if part is not None]
    return "".join(kept) if len(kept) == len(parts) else None


def _ends(pattern: str, position: int) -> bool:
    """Whether what stands before is the end of the pattern, or of one of its alternatives."""
    rest = pattern[position:]
    return not rest.strip(")") or (rest.startswith("|") and "(" not in pattern)


def _token(match: re.Match[str]) -> str | None:
    kind, text = match.lastgroup, match[0]
    if kind == "escaped":
        return _escape(match["escaped"])
    if kind == "class":
        return _class(text)
    if kind == "group":
        return text if text != "(?" else None
    if kind == "end":
        return r"(?:\r?$)"  # we see no carriage return before a line end
    return None if text in "\n\\[" else text


def _escape(char: str) -> str | None:
    if char.lower() in _CLASSES:
        return f"[{'^' * char.isupper()}{_CLASSES[char.lower()]}]"
    if char in _BOUNDS:
        return _BOUNDS[char]
    if char in _SAME:
        return f"\\{char}"
    return re.escape(char) if char.isascii() and not char.isalnum() and char != "\n" else None


def _class(text: str) -> str | None:
    """A bracket expression; here a bracket, "&" and "~" within have no meaning of their own."""
    inner = text[1:-1]
    negated = inner.startswith("^")
    inner = inner[negated:]
    if "[:" in inner or "--" in inner or not inner or "\n" in inner:
        return None
    made = []
    for escaped, plain in re.findall(r"\\(.)|(.)", inner, re.DOTALL):
        if escaped in _CLASSES:
            made.append(_CLASSES[escaped])
        elif escaped and (escaped.isalnum() or not escaped.isascii()):
            if escaped not in _SAME:
                return None
            made.append(f"\\{escaped}")
        else:
            char = escaped or plain
            made.append(f"\\{char}" if escaped or char in "[]&~^" else char)
    return f"[{'^' * negated}{''.join(made)}]"


def _private(files: Enclosure) -> list[str]:
    """The private folders in the workspace, by their paths there."""
    root = files.root.resolve()
    paths = [(root / private) for private in files.private]
    return [str(path.relative_to(root)) for path in paths if path.is_relative_to(root)]


def _literal(name: str) -> str:
    return re.sub(r"([*?\[\]{}\\!])", r"\\\1", name)


def _place(path: str) -> list[tuple[bool, str]]:
    *folders, name = path.split("/")
    return [*((True, folder) for folder in folders), (False, name)]


def _output(argv: list[str], root: Path, check: Callable[[], None]) -> str | None:
    try:
        process = subprocess.Popen(
            argv,
            cwd=root,
            env={},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
        )
    except (OSError, ValueError):
        return None
    with process:
        try:
            while True:
                check()
                try:
                    found, _ = process.communicate(timeout=_PAUSE)
                    break
                except subprocess.TimeoutExpired:
                    continue
        except BaseException:
            process.kill()
            raise
    check()
    if process.returncode not in (0, 1):  # some folder could not be read, or the pattern
        return None
    return found.decode(errors="surrogateescape")


@cache
def _program() -> Path | None:
    """The one that was installed with us."""
    program = Path(sysconfig.get_path("scripts"), "rg")
    return program if program.is_file() else None
