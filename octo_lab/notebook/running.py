"""What runs in this process and must be closed before it ends."""

from __future__ import annotations

import atexit
import threading
from collections.abc import Callable

_closers: list[Callable[[], None]] = []
_lock = threading.Lock()


def close_before_exit(close: Callable[[], None]) -> None:
    """Have ``close`` called once, at the latest when the interpreter ends.

    It must run before the interpreter joins its threads (the runtime's workers would wait for
    each other), which plain ``atexit`` does not offer.
    """
    register = getattr(threading, "_register_atexit", atexit.register)
    with _lock:
        if not _closers:
            register(close_runtime)
        _closers.append(close)


def close_runtime() -> None:
    """Close what runs, if anything does; later calls do nothing."""
    with _lock:
        closers = list(_closers)
        _closers.clear()
    for close in reversed(closers):
        close()
