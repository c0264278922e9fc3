"""The papermill engine ``octo``: a signal stops the running cell, and the notebook is saved.

Plain papermill dies at once on SIGTERM and gives a cell 2.5 s on SIGINT. Here either becomes
an interrupt of the kernel; the cell cleans up in its own time (up to ``cleanup`` seconds)
and the notebook goes on. Where the interrupt ends the run, the exit code is 128 + signal.
"""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any

from nbclient.exceptions import DeadKernelError
from nbformat import NotebookNode
from papermill.clientwrap import PapermillNotebookClient  # type: ignore[import-untyped]
from papermill.engines import (  # type: ignore[import-untyped]
    Engine,
    NotebookExecutionManager,
)

SIGNALS = (signal.SIGINT, signal.SIGTERM)
CLEANUP = 60.0


class Stopping:
    """What was asked to stop, and how far it got.

    A kernel ignores an interrupt between cells, so it is held back until the cell runs. A
    second signal during the clean-up of the same cell ends the kernel.
    """

    def __init__(self, cleanup: float) -> None:
        self.client: SignalledClient | None = None
        self.signum = 0
        self._cleanup = cleanup
        self._cell_runs = False
        self._interrupted = False
        self._timer: threading.Timer | None = None

    def handle(self, signum: int, frame: FrameType | None) -> None:
        again = self._interrupted and self._cell_runs
        self.signum = signum
        if again:
            self._signal_kernel(signal.SIGKILL)
        else:
            self._interrupted = False
            self._interrupt()

    def cell_starts(self, **_: object) -> None:
        """Called before each cell; ends the run when nothing has been interrupted yet."""
        if self.signum and not self._interrupted:
            raise SystemExit(128 + self.signum)

    def cell_runs(self) -> None:
        self._cell_runs = True
        self._interrupt()

    def cell_ended(self) -> None:
        self._cell_runs = False
        self._disarm()

    def _interrupt(self) -> None:
        if self.signum and self._cell_runs and not self._interrupted:
            self._interrupted = True
            self._signal_kernel(signal.SIGINT)
            self._timer = threading.Timer(self._cleanup, self._signal_kernel, [signal.SIGKILL])
            self._timer.daemon = True
            self._timer.start()

    def _signal_kernel(self, signum: int) -> None:
        pid = self.client.kernel_pid if self.client else None
        if pid is not None:
            os.kill(pid, signum)

    def _disarm(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None


class SignalledClient(PapermillNotebookClient):  # type: ignore[misc] # papermill is untyped
    """Tells a Stopping when a cell really runs and when it has ended."""

    stopping: Stopping

    @property
    def kernel_pid(self) -> int | None:
        provisioner = self.km.provisioner if self.km is not None else None
        return getattr(provisioner, "pid", None)

    def process_message(self, msg: dict[str, Any], *args: Any, **kwargs: Any) -> Any:
        if msg["msg_type"] == "execute_input":
            self.stopping.cell_runs()
        return super().process_message(msg, *args, **kwargs)


class OctoEngine(Engine):  # type: ignore[misc] # papermill is untyped
    """``papermill --engine octo``."""

    @classmethod
    def execute_managed_notebook(
        cls,
        nb_man: NotebookExecutionManager,
        kernel_name: str,
        cleanup: float = CLEANUP,
        **options: Any,
    ) -> None:
        stopping = Stopping(cleanup)
        with _signals(stopping):
            stopping.client = _client(nb_man, kernel_name, options)
            stopping.client.stopping = stopping
            stopping.client.on_cell_execute = stopping.cell_starts
            stopping.client.on_cell_executed = lambda **_: stopping.cell_ended()
            _execute(stopping.client, stopping)
        if stopping.signum and _ends_interrupted(nb_man.nb):
            raise SystemExit(128 + stopping.signum)


def _execute(client: SignalledClient, stopping: Stopping) -> None:
    try:
        client.execute()
    except DeadKernelError:
        if not stopping.signum:
            raise
        raise SystemExit(128 + stopping.signum) from None


def _client(
    nb_man: NotebookExecutionManager, kernel_name: str, options: dict[str, Any]
) -> SignalledClient:
    """A client with the options that papermill's own engine would give it."""
    renamed = {"startup_timeout": options.pop("start_timeout", 60)}
    renamed["timeout"] = options.pop("execution_timeout", None) or options.pop("timeout", None)
    options.pop("input_path", None)
    return SignalledClient(nb_man, kernel_name=kernel_name, **{**options, **renamed})


def _ends_interrupted(notebook: NotebookNode) -> bool:
    outputs = [output for cell in notebook.cells for output in cell.get("outputs", [])]
    return any(
        output.output_type == "error" and output.ename == "KeyboardInterrupt" for output in outputs
    )


@contextmanager
def _signals(stopping: Stopping) -> Iterator[None]:
    """Handle the signals while inside; only the main thread can, elsewhere it is a no-op."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    heard: tuple[signal.Signals, ...] = SIGNALS
    if signal.getsignal(signal.SIGHUP) != signal.SIG_IGN:  # else it is to outlive its terminal
        heard = (*SIGNALS, signal.SIGHUP)
    before = {signum: signal.signal(signum, stopping.handle) for signum in heard}
    try:
        yield
    finally:
        for signum, handler in before.items():
            signal.signal(signum, handler)
