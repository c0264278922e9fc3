"""The edge to the person at the terminal: every error becomes one line and an exit code."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Callable
from pathlib import Path

from octo_lab.cli.crash import crashed
from octo_lab.cli.hidden import hidden
from octo_lab.cli.interrupt import INTERRUPTED, raise_on_interrupt
from octo_lab.cli.outcome import Outcome
from octo_lab.cli.printer import printable
from octo_lab.core.causes import cause_of
from octo_lab.core.errors import OctoError, UsageError

USAGE = 2
PIPE_CLOSED = 141
_PERMIT = "is it there, and may you use it?"
_ROOM = "is there room where it goes?"


def guarded(command: Callable[[], Outcome | None], workspace: Path | None = None) -> int:
    """Run a command; print its error, if any, as one line on stderr; return its exit code."""
    raise_on_interrupt()
    try:
        outcome = command() or Outcome()
        sys.stdout.flush()
    except (Exception, KeyboardInterrupt, BaseExceptionGroup) as exc:  # noqa: BLE001 - the edge
        outcome = _outcome(cause_of(exc), workspace)
    if outcome.error:
        say_error(outcome.error, outcome.hint)
    return outcome.code


def say_error(error: str, hint: str = "") -> None:
    line = f"octo: {error} ({hint})" if hint else f"octo: {error}"
    with contextlib.suppress(OSError):  # nobody listens: the exit code says it
        sys.stderr.write(printable(hidden(" ".join(line.split()))) + "\n")


def _outcome(exc: BaseException, workspace: Path | None) -> Outcome:
    match exc:
        case UsageError():
            return Outcome(code=USAGE, error=exc.message, hint=exc.hint)
        case OctoError():
            return Outcome(code=1, error=exc.message, hint=exc.hint)
        case KeyboardInterrupt():
            return Outcome(code=INTERRUPTED, error="Stopped")
        case OSError():
            return _unwritten(exc)
    return crashed(exc, workspace)


def _unwritten(exc: OSError) -> Outcome:
    """Stdout is closed or full, or the system refuses something else that it names."""
    if exc.filename is not None:
        return Outcome(code=1, error=f"{exc.strerror}: {str(exc.filename)!r}", hint=_PERMIT)
    sys.stdout = None  # else the interpreter flushes it at its end
    if isinstance(exc, BrokenPipeError):
        return Outcome(code=PIPE_CLOSED)
    return Outcome(code=1, error=f"Cannot write the output: {exc.strerror or exc}", hint=_ROOM)
