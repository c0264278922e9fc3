"""Ends a program and everything it started: asked first, then killed, until none is left."""

from __future__ import annotations

import os
import select
import signal
import time
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, field

import psutil

from octo_lab.tools.sandbox.cgroup import Groups

MARK = "OCTO_CALL"
"""A variable by which stragglers are known that left the session of their program."""


@dataclass(slots=True, kw_only=True)
class Family:
    """A program, a leader of its own session, and what descends from it.

    ``first`` is the first process of its namespace of processes, if it has one: when that is
    gone, the kernel has ended all others; ``handle`` is a descriptor of it. ``mark`` is in the
    environment of all.
    """

    leader: int
    mark: str
    namespace: bool = False
    groups: Groups = field(default_factory=Groups)
    first: int | None = None
    handle: int | None = None

    def meet(self, first: int) -> None:
        """Learn the first process of the namespace while it is surely that one."""
        with suppress(OSError):
            self.handle = os.pidfd_open(first)
            self.first = first

    def close(self) -> None:
        if self.handle is not None:
            os.close(self.handle)
            self.handle = None

    def ask(self) -> None:
        """Let every process end by itself. Those that only hold the sandbox are left alone."""
        if not self.namespace:
            with suppress(OSError):
                os.killpg(self.leader, signal.SIGTERM)
        for pid in self._inner():
            with suppress(OSError):
                os.kill(pid, signal.SIGTERM)

    def kill(self, seconds: float = 2.0) -> bool:
        """End all at once; whether all are gone. To be called before the leader is reaped, lest
        its number be another's.
        """
        until = time.monotonic() + seconds
        with suppress(OSError):
            os.killpg(self.leader, signal.SIGKILL)
        gone = self._end_namespace(until)
        if self.groups.folders:
            return self.groups.kill(until - time.monotonic()) and gone
        return gone if self.namespace else self._end_marked(until)

    def _inner(self) -> Iterator[int]:
        top = self.first if self.namespace else self.leader
        if top is not None:
            with suppress(psutil.Error):
                yield from (child.pid for child in psutil.Process(top).children(recursive=True))

    def _end_namespace(self, until: float) -> bool:
        if self.handle is None:
            return True
        with suppress(OSError):
            signal.pidfd_send_signal(self.handle, signal.SIGKILL)
        return bool(select.select([self.handle], [], [], max(0.0, until - time.monotonic()))[0])

    def _end_marked(self, until: float) -> bool:
        while marked := list(_marked(self.mark, self.leader)):
            for process in marked:
                with suppress(psutil.Error):
                    process.kill()
            if time.monotonic() > until:
                return False
            time.sleep(0.01)
        return True


def _marked(mark: str, leader: int) -> Iterator[psutil.Process]:
    for process in psutil.process_iter():
        with suppress(psutil.Error):
            alive = process.pid != leader and process.status() != psutil.STATUS_ZOMBIE
            if alive and process.environ().get(MARK) == mark:
                yield process
