"""The edge to the person at the terminal: every error becomes one line and an exit code."""

from __future__ import annotations

import sys
from collections.abc import Callable

from octo_lab.cli.ask import Outcome
from octo_lab.cli.printer import printable
from octo_lab.core.causes import cause_of
from octo_lab.core.errors import OctoError, UsageError
from octo_lab.security.redact import redact

USAGE = 2
INTERRUPTED = 130
PIPE_CLOSED = 141


def guarded(command: Callable[[], Outcome | None]) -> int:
    """Run a command; print its error, if any, as one line on stderr; return its exit code."""
    try:
        outcome = command() or Outcome()
    except (OctoError, BaseExceptionGroup) as exc:
        outcome = _outcome(cause_of(exc))
    except KeyboardInterrupt:
        outcome = Outcome(code=INTERRUPTED, error="Stopped")
    except BrokenPipeError:
        sys.stdout = None  # else the interpreter flushes it at its end
        return PIPE_CLOSED
    if outcome.error:
        say_error(outcome.error, outcome.hint)
    return outcome.code


def say_error(error: str, hint: str = "") -> None:
    line = f"octo: {error} ({hint})" if hint else f"octo: {error}"
    sys.stderr.write(printable(redact(" ".join(line.split()))) + "\n")


def _outcome(exc: BaseException) -> Outcome:
    match exc:
        case UsageError():
            return Outcome(code=USAGE, error=exc.message, hint=exc.hint)
        case OctoError():
            return Outcome(code=1, error=exc.message, hint=exc.hint)
        case KeyboardInterrupt():
            return Outcome(code=INTERRUPTED, error="Stopped")
    raise exc
