"""What a finished ask leaves behind: a variable, the next cell, a format."""

from __future__ import annotations

import ast
import contextlib
import json
from typing import Any

from IPython.core.interactiveshell import InteractiveShell

from octo_lab.core.errors import UsageError
from octo_lab.notebook.compose import Given
from octo_lab.notebook.formats import FENCE, pictures, unfenced
from octo_lab.notebook.turn import Turn


def keep_outcome(shell: InteractiveShell, turn: Turn, given: Given, *, headless: bool) -> None:
    """Apply ``-o`` and ``-f``; raises UsageError when the answer is not what was asked for."""
    wanted = "json" if given.get("schema") else given.get("format", "auto")
    if given.get("out"):
        shell.user_ns[given["out"]] = turn
    if not turn.ok:
        return
    if wanted == "json":
        value = _json(turn.text)
        if given.get("out"):
            shell.user_ns[given["out"]] = value
    elif "fix" in given:
        _propose_fix(shell, turn.text, headless=headless)
    elif wanted == "code" and not headless:
        shell.set_next_input(code_of(turn.text))
    elif wanted == "image" and not (turn.snapshot and pictures(turn.snapshot)):
        raise UsageError("The answer holds no picture", hint="ask for a plot, or leave out -f")


def _propose_fix(shell: InteractiveShell, text: str, *, headless: bool) -> None:
    """Put the fixed cell below, never run it; an explanation without code is fine, too."""
    with contextlib.suppress(UsageError):
        code = code_of(text) if "```" in text else ""
        if code and not headless:
            shell.set_next_input(code)


def code_of(text: str) -> str:
    """The Python of an answer's fenced blocks, checked; raises UsageError."""
    found = [m[3] for m in FENCE.finditer(text) if m[2].lower() in ("", "python", "py", "ipython")]
    code = "\n\n".join(part.rstrip("\n") for part in found) or text.strip()
    try:
        ast.parse(code)
    except (SyntaxError, ValueError) as exc:
        raise UsageError(f"The answer holds no valid Python: {exc}") from None
    return code


def _json(text: str) -> Any:
    try:
        return json.loads(unfenced(text))
    except ValueError as exc:
        raise UsageError(f"The answer is no JSON: {exc}", hint="its text is kept above") from None
