"""``%octo fix``: the last exception with its cell, as a question."""

from __future__ import annotations

import sys
from typing import Any

from IPython.core import error as ipython
from IPython.core.interactiveshell import InteractiveShell

from octo_lab.core.errors import UsageError
from octo_lab.core.mail import Attachment
from octo_lab.core.text import head_and_tail
from octo_lab.notebook.attach import typed_cells
from octo_lab.notebook.options import Parsed
from octo_lab.notebook.run_code import traceback_text

PROMPT = (
    "The last cell failed. Explain the cause in one or two sentences, "
    "then give the whole corrected cell as one fenced Python block."
)


def fix_request(parsed: Parsed) -> Parsed:
    """``fix`` alone stands for its prompt; anything else is itself."""
    if parsed.text.strip() != "fix":
        return parsed
    return Parsed(given={**parsed.given, "fix": True, "raw": True}, text=PROMPT)


def last_failure(shell: InteractiveShell) -> Attachment:
    """The traceback and the failing cell; raises UsageError when nothing has failed."""
    error = getattr(sys, "last_value", None)
    if not isinstance(error, BaseException) or isinstance(error, ipython.UsageError):
        raise UsageError("No exception to fix", hint="run the failing cell first")
    source = _failing_cell(shell)
    text = f"cell:\n{head_and_tail(source, 20_000)}\n\ntraceback:\n{traceback_text(error)}"
    return Attachment(name="last exception", text=text)


def _failing_cell(shell: InteractiveShell) -> str:
    history: Any = shell.history_manager
    cells = typed_cells(shell)
    failed = [number for number in getattr(history, "exceptions", {}) if number < len(cells)]
    number = max(failed, default=len(cells) - 2)
    return str(cells[number]) if 0 < number < len(cells) else ""
