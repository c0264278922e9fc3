"""One piece of work on the kernel's main thread that an interrupt always ends."""

from __future__ import annotations

import _thread
import asyncio
import contextvars
import inspect
import os
import signal
import threading
import types
from collections.abc import Callable, Coroutine, Generator, Iterator
from concurrent.futures import Future
from contextlib import AbstractContextManager, contextmanager, nullcontext
from types import FrameType
from typing import Any

from octo_lab.core.errors import ToolFailed

Around = Callable[[], AbstractContextManager[object]]
_here = threading.local()


def inside_main_call() -> bool:
    """Whether the running code is the work of a main call (a tool that runs for a turn)."""
    return bool(getattr(_here, "inside", False))


class Interrupted(ToolFailed):
    """The work was ended from outside; ``by_person`` when by an interrupt of the kernel."""

    def __init__(self, message: str, *, by_person: bool) -> None:
        super().__init__(message)
        self.by_person = by_person


class MainCall:
    """Work for the main thread: a function, or one that returns a coroutine.

    While the work runs (for a coroutine: in each of its steps) it is inside ``around`` and an
    interrupt raises KeyboardInterrupt in it at once, whatever handler the kernel has set.
    ``future`` has its result; an outcome cut short is an Interrupted. ``struck`` is done once
    an interrupt was raised in the work, which may swallow it.
    """

    def __init__(
        self,
        work: Callable[[], Any],
        around: Around = nullcontext,
        context: contextvars.Context | None = None,
    ) -> None:
        self.context = context or contextvars.copy_context()
        self.future: Future[Any] = Future()
        self.struck: Future[None] = Future()
        self._work = work
        self._around = around
        self._inside = False
        self._missed = False
        self._reason = ""
        self._killing = threading.Lock()
        self._task: tuple[asyncio.AbstractEventLoop, asyncio.Task[None]] | None = None

    def run(self) -> Coroutine[Any, Any, None] | None:
        """Do the work, on the main thread. A coroutine it returns is what remains to be done."""
        if not self.future.set_running_or_notify_cancel():
            return None
        process = os.getpid()
        try:
            with self._step():
                result = self.context.run(self._work)
            _end_a_fork_of(process)
        except BaseException as exc:  # noqa: BLE001 - everything goes to the one who asked
            _end_a_fork_of(process)
            self._fail(exc)
            return None
        if inspect.iscoroutine(result):
            return self._finish(result)
        self.future.set_result(result)
        return None

    async def _finish(self, work: Coroutine[Any, Any, Any]) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._task = (task.get_loop(), task)
        process = os.getpid()
        try:
            result = await _stepwise(work, self._step)
            _end_a_fork_of(process)
            self.future.set_result(result)
        except BaseException as exc:  # noqa: BLE001 - everything goes to the one who asked
            _end_a_fork_of(process)
            self._fail(exc)
        finally:
            self._task = None

    def _fail(self, exc: BaseException) -> None:
        if self._was_ended(exc):
            by_person = not self._reason
            exc = Interrupted(self._reason or "interrupted by the person", by_person=by_person)
        elif isinstance(exc, StopIteration) or not isinstance(exc, Exception):
            exc = ToolFailed(f"It raised {type(exc).__name__}: {exc}".rstrip(": "))
        self.future.set_exception(exc)

    def _was_ended(self, exc: BaseException) -> bool:
        """Whether it was ended from outside; work may also raise a CancelledError of its own."""
        if not isinstance(exc, asyncio.CancelledError):
            return isinstance(exc, KeyboardInterrupt)
        return bool(self._reason or (self._task and self._task[1].cancelling()))

    def interrupt(self, reason: str) -> None:
        """End the work from another thread; may be called again if it resists.

        Without a reason it repeats an interrupt by the person.
        """
        self._reason = reason
        with self._killing:
            if self._inside:
                _raise_in_main_thread()
                return
        if self._task is not None:
            loop, task = self._task
            loop.call_soon_threadsafe(task.cancel)

    @contextmanager
    def _step(self) -> Iterator[None]:
        if threading.current_thread() is not threading.main_thread():
            with self._around():
                yield
            return
        before = signal.signal(signal.SIGINT, self._raise)
        try:
            with self._around():
                self._inside = _here.inside = True
                try:
                    yield
                finally:
                    self._inside = _here.inside = False
        finally:
            with self._killing:
                signal.signal(signal.SIGINT, before)
        if self._missed:
            raise KeyboardInterrupt

    def _raise(self, number: int, frame: FrameType | None) -> None:
        """Raise inside the work; on its way in or out, remember to raise after it."""
        if self._inside:
            if not self.struck.done():
                self.struck.set_result(None)
            raise KeyboardInterrupt
        self._missed = True


def _end_a_fork_of(process: int) -> None:
    """A child that work forked and that comes out of the work must not go on as the kernel."""
    if os.getpid() != process:
        os._exit(0)


@types.coroutine
def _stepwise(
    work: Coroutine[Any, Any, Any], step: Callable[[], AbstractContextManager[None]]
) -> Generator[Any, Any, Any]:
    """Drive a coroutine so that each of its steps runs inside ``step()``."""
    advance: Callable[[], Any] = lambda: work.send(None)  # noqa: E731
    while True:
        try:
            with step():
                waited = advance()
        except StopIteration as done:
            return done.value
        try:
            sent = yield waited
        except BaseException as exc:  # noqa: BLE001 - thrown into the coroutine
            advance = _throwing(work, exc)
        else:
            advance = _sending(work, sent)


def _sending(work: Coroutine[Any, Any, Any], value: Any) -> Callable[[], Any]:
    return lambda: work.send(value)


def _throwing(work: Coroutine[Any, Any, Any], exc: BaseException) -> Callable[[], Any]:
    return lambda: work.throw(exc)


def _raise_in_main_thread() -> None:
    ident = threading.main_thread().ident
    if hasattr(signal, "pthread_kill") and ident is not None:
        signal.pthread_kill(ident, signal.SIGINT)
    else:
        _thread.interrupt_main()
