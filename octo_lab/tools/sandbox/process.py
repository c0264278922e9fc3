"""Runs one program to its end in the calling thread: fed, drained, bounded, ended whole."""

from __future__ import annotations

import os
import re
import selectors
import signal
import subprocess
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack, suppress
from dataclasses import dataclass, field
from pathlib import Path

from octo_lab.core.errors import ToolFailed
from octo_lab.tools.exec_env import Executed, Feed
from octo_lab.tools.sandbox.bwrap import Lent
from octo_lab.tools.sandbox.cgroup import Groups
from octo_lab.tools.sandbox.endings import Family
from octo_lab.tools.sandbox.kept import Kept
from octo_lab.tools.sandbox.opened import Openings
from octo_lab.tools.sandbox.stop import Stop

_PIECE = 65_536
_TICK = 0.05
_LAST_WORDS = 0.2
_CANCEL_GRACE = 0.5
_DEATH = 2.0
_FIRST = re.compile(rb'"child-pid": (\d+)')


@dataclass(frozen=True, slots=True, kw_only=True)
class Start:
    """``argv`` is made of the descriptors that are lent to a sandbox with a ``namespace`` of
    processes; ``filter`` is what it reads from one.

    ``grace`` is how long a program that was asked to end may take. ``environ`` holds ``mark``.
    """

    argv: Callable[[Lent], Sequence[str]]
    cwd: Path
    environ: Mapping[str, str] = field(repr=False)
    mark: str
    timeout: float
    stdin: bytes = field(default=b"", repr=False)
    feed: Feed | None = None
    listen: Callable[[bytes], None] | None = None
    output: int = 50_000
    grace: float = 2.0
    namespace: bool = False
    filter: bytes = field(default=b"", repr=False)
    groups: Groups = field(default_factory=Groups)
    openings: Openings | None = None


def run_process(start: Start, stop: Stop) -> Executed:
    """Blocks until the program and all its descendants are gone; raises ToolFailed."""
    began = time.monotonic()
    watch = _begin(start, stop)
    try:
        timed_out = not watch.until_exit(began + start.timeout, stop)
        if not watch.exited:
            watch.family.ask()
            grace = start.grace if timed_out else min(start.grace, _CANCEL_GRACE)
            watch.until_exit(time.monotonic() + grace, None)
    finally:
        gone = watch.end()
    return Executed(
        code=watch.code,
        stdout=watch.out.value(),
        stderr=watch.err.value(),
        timed_out=timed_out,
        seconds=time.monotonic() - began,
        notes=() if gone else ("Some processes of this command could not be ended.",),
    )


def _begin(start: Start, stop: Stop) -> _Watch:
    """The program, watched; nothing is left of it when that fails."""
    with ExitStack() as undo:
        told, lent = None, Lent()
        with ExitStack() as back:
            if start.namespace:
                told, tell = os.pipe()
                undo.callback(os.close, told)
                back.callback(os.close, tell)
                lent = Lent(info=tell, filter=_readable(start.filter, back))
            process = _spawn(start, lent)
        family = Family(
            leader=process.pid, mark=start.mark, namespace=start.namespace, groups=start.groups
        )
        undo.callback(process.wait)
        undo.callback(family.kill)
        watch = _Watch(start, process, family, (stop.descriptor, told))
        undo.pop_all()
    return watch


def _readable(data: bytes, back: ExitStack) -> int | None:
    """A descriptor that gives the data, which fit into a pipe."""
    if not data:
        return None
    given, give = os.pipe()
    back.callback(os.close, given)
    os.write(give, data)
    os.close(give)
    return given


def _spawn(start: Start, lent: Lent) -> subprocess.Popen[bytes]:
    given = bool(start.stdin) or start.feed is not None
    argv = list(start.argv(lent))
    try:
        return subprocess.Popen(
            argv,
            stdin=subprocess.PIPE if given else subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            cwd=start.cwd,
            env=dict(start.environ),
            start_new_session=True,
            pass_fds=[each for each in (lent.info, lent.filter) if each is not None],
            bufsize=0,
        )
    except (OSError, ValueError) as exc:
        why = getattr(exc, "strerror", None) or str(exc)
        raise ToolFailed(f"{argv[0]!r} cannot be started: {why}") from exc


class _Watch:
    """Reads, writes and waits, all at once."""

    def __init__(
        self,
        start: Start,
        process: subprocess.Popen[bytes],
        family: Family,
        signs: tuple[int, int | None],
    ) -> None:
        self.out, self.err = Kept(start.output), Kept(start.output)
        self.exited = False
        self._start = start
        self._process = process
        self.family = family
        self._waiting = start.stdin
        self._streams: set[int] = set()
        self._selector = selectors.DefaultSelector()
        self._wake, self._told = signs
        self._handle = _handle(process.pid)
        self._listen_to(process)

    def _listen_to(self, process: subprocess.Popen[bytes]) -> None:
        for stream, kept in ((process.stdout, self.out), (process.stderr, self.err)):
            assert stream is not None
            self._register(stream.fileno(), self._reader(stream.fileno(), kept))
            self._streams.add(stream.fileno())
        self._register(self._wake, lambda: self._forget(self._wake))
        if self._told is not None:
            self._register(self._told, self._learn)
        if self._handle is not None:
            self._register(self._handle, self._see_exit)
        if (openings := self._start.openings) is not None:
            self._register(openings.descriptor, openings.tell)
        if process.stdin is not None:
            os.set_blocking(process.stdin.fileno(), False)
            self._feed()

    @property
    def code(self) -> int:
        code = self._process.returncode
        return -signal.SIGKILL if code is None else code

    def until_exit(self, deadline: float, stop: Stop | None) -> bool:
        """Whether it ended, or was to be stopped, before the deadline. Only the first matters
        to whoever cancelled it.
        """
        while not self.exited:
            left = deadline - time.monotonic()
            if stop is not None and stop.asked:
                return True
            if left <= 0:
                return False
            self._turn(left)
        return True

    def end(self) -> bool:
        """Kill what is left, take the last output, reap; whether all are gone."""
        self._turn(0.0)
        self._await_end_of_output()
        gone = self.family.kill()
        self.until_exit(time.monotonic() + _DEATH, None)
        self._await_end_of_output()
        with suppress(subprocess.TimeoutExpired):
            self._process.wait(_LAST_WORDS)
        self._close()
        return gone and self._process.returncode is not None

    def _await_end_of_output(self) -> None:
        """A process in the background may hold the pipes for ever."""
        until = time.monotonic() + _LAST_WORDS
        while self._streams and self.exited and (left := until - time.monotonic()) > 0:
            self._turn(left)

    def _turn(self, left: float) -> None:
        polled = self._handle is None or self._start.feed is not None
        for key, _ in self._selector.select(min(left, _TICK) if polled else left):
            key.data()
        if self._handle is None:
            self.exited = self._process.poll() is not None
        if self._start.feed is not None:
            self._feed()

    def _reader(self, stream: int, kept: Kept) -> Callable[[], None]:
        def read() -> None:
            data = os.read(stream, _PIECE)
            if not data:
                self._forget(stream)
                self._streams.discard(stream)
                return
            kept.add(data)
            if self._start.listen is not None:
                self._start.listen(data)

        return read

    def _feed(self) -> None:
        """Write what waits, or wait until it can be written."""
        stdin = self._process.stdin
        if stdin is None or stdin.closed:
            return
        if not self._waiting and self._start.feed is not None:
            more = self._start.feed.take()
            if more is None:
                self._close_stdin()
                return
            self._waiting = more
        if self._waiting:
            self._write(stdin.fileno())
        elif self._start.feed is None:
            self._close_stdin()

    def _write(self, stdin: int) -> None:
        try:
            self._waiting = self._waiting[os.write(stdin, self._waiting[:_PIECE]) :]
        except BlockingIOError:
            pass
        except OSError:  # nobody reads any more
            self._close_stdin()
            return
        self._register(stdin, self._feed, selectors.EVENT_WRITE)
        if not self._waiting and self._start.feed is not None:
            self._forget(stdin)

    def _close_stdin(self) -> None:
        stdin = self._process.stdin
        if stdin is not None and not stdin.closed:
            self._forget(stdin.fileno())
            stdin.close()

    def _learn(self) -> None:
        """The sandbox tells the number of its first process, as JSON, and closes the pipe."""
        assert self._told is not None
        said = os.read(self._told, _PIECE)
        if first := _FIRST.search(said):
            self.family.meet(int(first[1]))
        if first or not said:
            self._forget(self._told)

    def _see_exit(self) -> None:
        assert self._handle is not None
        self.exited = True
        self._forget(self._handle)

    def _forget(self, descriptor: int) -> None:
        with suppress(KeyError):
            self._selector.unregister(descriptor)

    def _register(
        self, descriptor: int, act: Callable[[], None], event: int = selectors.EVENT_READ
    ) -> None:
        with suppress(KeyError):  # it is registered already
            self._selector.register(descriptor, event, act)

    def _close(self) -> None:
        self._close_stdin()
        self.family.close()
        self._selector.close()
        for stream in (self._process.stdout, self._process.stderr):
            if stream is not None:
                stream.close()
        for descriptor in (self._told, self._handle):
            if descriptor is not None:
                os.close(descriptor)


def _handle(pid: int) -> int | None:
    """A descriptor that becomes readable when the process ends; None where there is no such."""
    try:
        return os.pidfd_open(pid)
    except (AttributeError, OSError):
        return None
