"""Completes options, slash commands, command words and ``@names`` of ``%octo``."""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from IPython.core.completer import CompletionContext, SimpleCompletion, context_matcher
from IPython.core.interactiveshell import InteractiveShell

from octo_lab.notebook.options import FORMATS, OPTIONS
from octo_lab.notebook.transforms import MAGIC

WORDS = ("status", "fix", "doctor", "models", "providers", "router", "tools", "trust", "help")
UNSTARTED = ("/help",)  # the runtime knows its commands; none is started to complete a word
_MARK = "octo_matcher"
_LINE = re.compile(rf"\s*(?:[\w.\[\]]+\s*=\s*)?%%?{MAGIC}\s+(.*)$", re.S)
_CELL = re.compile(rf"(?:\s*(?:#[^\n]*)?\n)*\s*%%{MAGIC}\b")
_NO_PYTHON = re.compile(r"-|@|/[^/]*$")  # Python's own matchers would search for seconds
FILES = 50


def install_completion(shell: InteractiveShell) -> None:
    remove_completion(shell)
    matcher: Any = _matcher(shell)
    setattr(matcher, _MARK, True)
    shell.Completer.custom_matchers.append(matcher)


def remove_completion(shell: InteractiveShell) -> None:
    matchers = shell.Completer.custom_matchers
    matchers[:] = [matcher for matcher in matchers if not hasattr(matcher, _MARK)]


def _matcher(shell: InteractiveShell) -> Any:
    @context_matcher()  # type: ignore[untyped-decorator]
    def octo_matcher(context: CompletionContext) -> Any:
        word, found = complete(context.full_text, context.text_until_cursor, shell)
        return {
            "completions": [SimpleCompletion(text=text, type="octo") for text in found],
            "matched_fragment": word,
            "suppress": bool(found) or bool(_NO_PYTHON.match(word)),
        }

    return octo_matcher


def complete(cell: str, line: str, shell: InteractiveShell) -> tuple[str, list[str]]:
    """The word before the cursor and what may stand in its place; none outside of ``%octo``."""
    match = _LINE.match(line)
    if not match and not _CELL.match(cell):
        return "", []
    said = match[1] if match else line
    word = re.split(r"\s", said)[-1]
    if word.startswith("@"):
        return word, [f"@{name}" for name in _names(word[1:], shell.user_ns)]
    if not match:
        return word, []
    return word, [name for name in _line_words(said, word, shell) if name.startswith(word)]


def _line_words(said: str, word: str, shell: InteractiveShell) -> list[str]:
    before = said[: len(said) - len(word)].split()
    if before and before[-1] in ("-f", "--format"):
        return list(FORMATS)
    if word.startswith("-"):
        return [name for option in OPTIONS for name in option.names]
    if before == ["providers"]:
        return ["test"]
    if before:
        return []
    return [*(_commands(shell) if word.startswith("/") else WORDS)]


def _commands(shell: InteractiveShell) -> Iterable[str]:
    """The slash commands of the runtime, if one has started."""
    octo: Any = getattr(shell, "octo", None)
    face = octo.started if octo is not None else None
    return (face.command_names() if face is not None else ()) or UNSTARTED


def _names(start: str, namespace: Iterable[str]) -> list[str]:
    names = [name for name in namespace if name.startswith(start) and not name.startswith("_")]
    return sorted(set(names)) + _files(start)


def _files(start: str) -> list[str]:
    folder, _, name = start.rpartition("/")
    try:
        found = sorted(Path(folder or ".").glob(f"{name}*"))
    except (OSError, ValueError, NotImplementedError):
        return []
    prefix = f"{folder}/" if folder else ""
    shown = [path for path in found if not path.name.startswith(".")][:FILES]
    return [f"{prefix}{path.name}{'/' if path.is_dir() else ''}" for path in shown]
