"""Brings work from the runtime's thread to the kernel's main thread, and its result back."""

from __future__ import annotations

import asyncio
import contextvars
import signal
import sys
import threading
from collections import deque
from collections.abc import Callable, Coroutine
from contextlib import nullcontext
from functools import cache
from types import FrameType
from typing import Any

import anyio

from octo_lab.notebook.main_call import Around, Interrupted, MainCall

PATCHED = (
    "octo_lab: an async tool ran while a call blocked the kernel's loop; nest_asyncio2 patches "
    "asyncio until the kernel restarts. Top-level %octo needs no patch.\n"
)
OLD_PATCH = (
    "octo_lab: nest_asyncio was applied here; on ipykernel 7 it loses queued cells. "
    "Use nest_asyncio2 instead.\n"
)
PATIENCE = 50  # interrupts, one each 0.1 s, before work that swallows them is left alone
GRACE = 0.5  # seconds for work to end by itself after an interrupt that it may have swallowed


class Bridge:
    """One call at a time, in order, run where the main thread can take it.

    Two places take calls: the kernel's own loop (between cells, and while a cell awaits), and
    ``wait`` (while a cell blocks in one of our calls). A main thread busy with other code takes
    the call afterwards.
    """

    def __init__(
        self,
        loop: asyncio.AbstractEventLoop | None,
        on_interrupt: Callable[[], None],
        context: Callable[[], contextvars.Context] = contextvars.copy_context,
    ) -> None:
        self._loop = loop
        self._context = context
        self._on_interrupt = on_interrupt
        self._calls: deque[MainCall] = deque()
        self._news = threading.Condition()
        self._tasks: set[asyncio.Task[None]] = set()
        self._turnstile = anyio.Lock()

    async def call(self, work: Callable[[], Any], around: Around = nullcontext) -> Any:
        """Run ``work`` on the main thread; cancelled, it interrupts the work and waits for it."""
        async with self._turnstile:
            call = self.post(work, around)
            try:
                return await self._result(call)
            except Interrupted as exc:
                if exc.by_person:
                    self._on_interrupt()
                raise
            except anyio.get_cancelled_exc_class():
                with anyio.CancelScope(shield=True):
                    await self._end(call)
                raise

    async def _result(self, call: MainCall) -> Any:
        """What the work returns; an interrupt by the person that it swallows is repeated."""
        result = asyncio.wrap_future(call.future)
        struck = asyncio.wrap_future(call.struck)
        try:
            await asyncio.wait({result, struck}, return_when=asyncio.FIRST_COMPLETED)
            await asyncio.wait({result}, timeout=GRACE)
            for _ in range(PATIENCE):
                if result.done():
                    break
                call.interrupt("")
                await asyncio.wait({result}, timeout=0.1)
            return await result
        finally:
            result.cancel()

    async def _end(self, call: MainCall) -> None:
        with self._news:
            if call in self._calls:
                self._calls.remove(call)
                call.future.cancel()
        for _ in range(PATIENCE):
            if call.future.done():
                return
            call.interrupt("stopped before it was done")
            await anyio.sleep(0.1)

    def post(self, work: Callable[[], Any], around: Around = nullcontext) -> MainCall:
        """Have ``work`` run on the main thread, in the context of the cell that asked."""
        call = MainCall(work, around, self._context())
        with self._news:
            self._calls.append(call)
            self._news.notify_all()
        if self._loop is not None and not self._loop.is_closed():
            self._loop.call_soon_threadsafe(self._drain_on_loop)
        return call

    def _next(self) -> MainCall | None:
        with self._news:
            return self._calls.popleft() if self._calls else None

    def _drain_on_loop(self) -> None:
        assert self._loop is not None
        while call := self._next():
            rest = call.run()
            if rest is not None:
                task = self._loop.create_task(rest, context=call.context)
                self._tasks.add(task)
                task.add_done_callback(self._tasks.discard)

    def wait(self, is_done: Callable[[], bool]) -> None:
        """Block the main thread until ``is_done``, meanwhile taking calls. See ``wake``."""
        while not is_done():
            if call := self._next():
                rest = call.run()
                if rest is not None:
                    run_reentrantly(rest, call.context)
                continue
            with self._news:
                if not self._calls and not is_done():
                    self._news.wait(0.1)

    def wake(self) -> None:
        """Have ``wait`` look again; from any thread."""
        with self._news:
            self._news.notify_all()


def run_reentrantly(
    work: Coroutine[Any, Any, None], context: contextvars.Context | None = None
) -> None:
    """Run a coroutine to its end on this thread, even inside its running loop.

    The one place that patches a loop: an async tool may use objects bound to the kernel's loop,
    which a blocking call holds. Applied at the first such call, and not undone.
    """
    try:
        loop = asyncio.get_running_loop()
    except RuntimeError:
        with asyncio.Runner() as runner:
            runner.run(work, context=context)
        return
    _allow_nesting(loop)
    task = loop.create_task(work, context=context)

    def cancel(number: int, frame: FrameType | None) -> None:
        """Between two steps of the work; an error raised there would lose the task."""
        loop.call_soon_threadsafe(task.cancel)

    before = signal.signal(signal.SIGINT, cancel)
    try:
        loop.run_until_complete(task)
    finally:
        signal.signal(signal.SIGINT, before)


@cache
def warn_of_old_patch() -> None:
    """Say once that nest_asyncio was applied by somebody, and what to use instead."""
    if getattr(asyncio, "_nest_patched", False) and "nest_asyncio" in sys.modules:
        sys.stderr.write(OLD_PATCH)


def _allow_nesting(loop: asyncio.AbstractEventLoop) -> None:
    import nest_asyncio2  # type: ignore[import-untyped]  # loaded at the first need only

    if getattr(loop, "_nest_patched", False):
        return
    warn_of_old_patch()
    nest_asyncio2.apply(loop)
    sys.stderr.write(PATCHED)
