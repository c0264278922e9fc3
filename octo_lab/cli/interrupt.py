"""Ctrl-C while Python still reads modules: an end without a traceback."""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

INTERRUPTED = 130


def exit_on_interrupt() -> None:
    """From now on SIGINT ends the process at once, as nothing has begun that could be lost."""
    if threading.current_thread() is threading.main_thread():
        signal.signal(signal.SIGINT, _exit)


@contextmanager
def no_traceback() -> Iterator[None]:
    """The same, as long as this lasts."""
    before = signal.getsignal(signal.SIGINT)
    exit_on_interrupt()
    try:
        yield
    finally:
        if threading.current_thread() is threading.main_thread():
            signal.signal(signal.SIGINT, before)


def raise_on_interrupt() -> None:
    """From now on SIGINT raises KeyboardInterrupt again, for those who clean up."""
    ours = signal.getsignal(signal.SIGINT) is _exit
    if ours and threading.current_thread() is threading.main_thread():
        signal.signal(signal.SIGINT, signal.default_int_handler)


def _exit(_signum: int, _frame: FrameType | None) -> None:
    os.write(2, b"octo: Stopped\n")
    os._exit(INTERRUPTED)
