"""How a program ended, in words."""

from __future__ import annotations

import signal

from octo_lab.tools.exec_env import Executed

_SHELL_BASE = 128


def how_it_ended(ran: Executed) -> str:
    if ran.timed_out:
        return f"stopped after {ran.seconds:.0f} s: it took too long"
    return exit_words(ran.code)


def exit_words(code: int) -> str:
    """The exit code, and the signal it stands for: a shell reports 128 and its number."""
    if code < 0:
        return f"ended by {_name(-code)}"
    if code > _SHELL_BASE and (name := _name(code - _SHELL_BASE)).startswith("SIG"):
        return f"exit code {code} ({name})"
    return f"exit code {code}"


def _name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"
