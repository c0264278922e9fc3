"""Notices that the front end's process has died, and ends the kernel in order."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable

INTERVAL = 1.0


class ParentWatch(threading.Thread):
    """Polls the parent process; when it is gone, closes what runs and leaves the process.

    Takes the place of ipykernel's own poller, which leaves at once.
    """

    def __init__(self, parent: int, close: Callable[[], None]) -> None:
        super().__init__(name="octo-parent", daemon=True)
        self._parent = parent if os.getppid() == parent else 0
        self._close = close
        self._never = threading.Event()

    def run(self) -> None:
        while not self._orphaned():
            self._never.wait(INTERVAL)
        try:
            self._close()
        finally:
            os._exit(1)

    def _orphaned(self) -> bool:
        now = os.getppid()
        return now != self._parent if self._parent else now == 1
