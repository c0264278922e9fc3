"""The runtime of this kernel: the app on a thread with its own loop, and the ways to reach it."""

from __future__ import annotations

import asyncio
import contextvars
import threading
from collections.abc import Callable, Coroutine
from concurrent.futures import Future
from typing import Any

import anyio
from anyio.abc import TaskGroup
from anyio.from_thread import BlockingPortal
from IPython.core.interactiveshell import InteractiveShell

from octo_lab.app import App, Setup, open_app
from octo_lab.core.errors import OctoError
from octo_lab.core.keys import ChatAddress
from octo_lab.core.mail import AnswerProposal, Control, ControlRequest, InboundMessage
from octo_lab.core.replies import ControlReply
from octo_lab.notebook.bridge import Bridge
from octo_lab.notebook.cell_turn import CellTurn
from octo_lab.notebook.channel import NotebookChannel

CLOSE_SECONDS = 4.0  # jupyter_client kills a kernel 5 s after it was asked to end
SENDER = "notebook"


class Runtime:
    """One per kernel. Every method may be called from any thread.

    ``opened`` holds the app once it runs, or the OctoError that kept it from running.
    """

    def __init__(
        self, shell: InteractiveShell, setup: Setup, address: ChatAddress, channel: NotebookChannel
    ) -> None:
        self.shell = shell
        self.address = address
        self.channel = channel
        self.workspace = setup.workspace
        self.environ = setup.environ
        self.bridge = Bridge(_kernel_loop(shell), self.stop_newest, self._context)
        self.opened: Future[App] = Future()
        self._setup = setup
        self._portal: BlockingPortal | None = None
        self._tasks: TaskGroup | None = None
        self._thread = threading.Thread(target=self._run, name="octo-loop", daemon=True)

    def start(self) -> None:
        self._thread.start()

    @property
    def ended(self) -> bool:
        """It could not be opened, or was closed: a new one may take its place."""
        return self.opened.done() and not self._thread.is_alive()

    @property
    def is_open(self) -> bool:
        return self.opened.done() and self.opened.exception() is None and not self.ended

    def _run(self) -> None:
        try:
            anyio.run(self._serve)
        except BaseException as exc:
            if not self.opened.done():
                self.opened.set_exception(_told(exc))
            elif not isinstance(exc, SystemExit):
                raise

    async def _serve(self) -> None:
        async with (
            BlockingPortal() as portal,
            open_app(self._setup) as app,
            anyio.create_task_group() as tasks,
        ):
            self._portal, self._tasks = portal, tasks
            self.opened.set_result(app)
            await portal.sleep_until_stopped()
            tasks.cancel_scope.cancel()

    def submit(self, work: Callable[..., Coroutine[Any, Any, Any]], *args: Any) -> Future[Any]:
        """Run an async function on the runtime's loop; raises OctoError if it is not open."""
        self.opened.result()
        if threading.current_thread() is self._thread:
            return self._submit_here(work, *args)
        assert self._portal is not None
        try:
            return self._portal.start_task_soon(work, *args)
        except RuntimeError:
            raise OctoError("The runtime was closed", hint="restart the kernel") from None

    def _submit_here(
        self, work: Callable[..., Coroutine[Any, Any, Any]], *args: Any
    ) -> Future[Any]:
        """From the runtime's own thread, where a portal cannot be used."""
        future: Future[Any] = Future()

        async def fulfil() -> None:
            try:
                future.set_result(await work(*args))
            except OctoError as exc:
                future.set_exception(exc)

        assert self._tasks is not None
        self._tasks.start_soon(fulfil)
        return future

    def control(self, control: Control) -> Future[ControlReply]:
        """Run a control of this notebook's chat."""
        if isinstance(control, AnswerProposal):
            return self.submit(self.channel.proposals.take, control)
        request = ControlRequest(address=self.address, control=control, sender_id=SENDER)
        return self.submit(self.opened.result().door.control, request)

    def ask(self, cell: CellTurn) -> None:
        """Publish a cell's message; a refusal ends the cell's wait."""
        self.submit(self._ask, cell)

    async def _ask(self, cell: CellTurn) -> None:
        self.channel.expect(cell)
        try:
            await self.publish(cell.message)
        except OctoError as exc:
            self.channel.forget(cell.message.id)
            cell.fail(exc.message, exc.hint)

    async def publish(self, message: InboundMessage) -> None:
        await self.opened.result().door.publish(message)

    def stop_newest(self) -> None:
        """The person interrupted the kernel while agent code ran: stop the turn it ran for."""
        cell = self.channel.newest()
        if cell is not None:
            cell.interrupted = True
            cell.stop()

    def _context(self) -> contextvars.Context:
        cell = self.channel.newest()
        return cell.context.copy() if cell is not None else contextvars.copy_context()

    def close(self) -> None:
        """End the app in order; bounded in time."""
        if self._portal is not None and self._thread.is_alive():
            try:
                self._portal.start_task_soon(self._portal.stop, True)
            except RuntimeError:
                return
            self._thread.join(CLOSE_SECONDS)


def _kernel_loop(shell: InteractiveShell) -> asyncio.AbstractEventLoop | None:
    """The loop the kernel runs on its main thread, if there is a kernel."""
    io_loop = getattr(getattr(shell, "kernel", None), "io_loop", None)
    loop = getattr(io_loop, "asyncio_loop", None)
    return loop if isinstance(loop, asyncio.AbstractEventLoop) else None


def _told(exc: BaseException) -> BaseException:
    """The one error inside groups of one: what the person can act on."""
    while isinstance(exc, BaseExceptionGroup) and len(exc.exceptions) == 1:
        exc = exc.exceptions[0]
    return exc
