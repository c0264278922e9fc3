"""The Octo kernel: a full Python kernel with the magics loaded."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any

from ipykernel.ipkernel import IPythonKernel
from ipykernel.kernelapp import IPKernelApp
from traitlets import Type

from octo_lab.notebook.comm_routing import keep_front_end_routing
from octo_lab.notebook.extension import load_ipython_extension
from octo_lab.notebook.parent import ParentWatch
from octo_lab.notebook.running import close_runtime

_Kernel: Any = IPythonKernel  # ipykernel is not typed
_App: Any = IPKernelApp


class OctoKernel(_Kernel):  # type: ignore[misc]
    """ipykernel with the agent at hand. Starting it prints nothing and starts no agent."""

    implementation = "octo"
    wakes_on_interrupt = True

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        keep_front_end_routing()
        load_ipython_extension(self.shell)  # past the list of loaded ones: %load_ext stays silent

    def start(self) -> None:
        signal.signal(signal.SIGTERM, _end_in_order)
        super().start()

    def do_shutdown(self, restart: bool) -> dict[str, Any]:
        close_runtime()
        return dict(super().do_shutdown(restart))

    def do_history(self, hist_access_type: str, *args: Any, **kwargs: Any) -> dict[str, Any]:
        """As in ipykernel, but a range of this session carries its number, not 0."""
        reply: dict[str, Any] = super().do_history(hist_access_type, *args, **kwargs)
        session = kwargs.get("session", 0)
        if hist_access_type == "range" and session > 0:
            reply["history"] = [(session, *entry[1:]) for entry in reply["history"]]
        return reply

    @contextmanager
    def _cancel_on_sigint(self, future: Any) -> Iterator[None]:
        """As in ipykernel, but an interrupt also wakes a loop that waits for its next event."""
        with super()._cancel_on_sigint(future):
            cancel = signal.getsignal(signal.SIGINT)
            loop = future.get_loop()

            def cancel_now(number: int, frame: FrameType | None) -> None:
                if callable(cancel):
                    cancel(number, frame)
                loop.call_soon_threadsafe(_nothing)

            signal.signal(signal.SIGINT, cancel_now)
            yield


class OctoKernelApp(_App):  # type: ignore[misc]
    """Starts an Octo kernel; when its parent dies, the runtime is closed before it leaves."""

    name = "octo-kernel"
    kernel_class = Type(OctoKernel, klass="ipykernel.kernelbase.Kernel").tag(config=True)

    def init_poller(self) -> None:
        if sys.platform == "win32" or not self.parent_handle or self.parent_handle == 1:
            super().init_poller()
        else:
            self.poller = ParentWatch(self.parent_handle, close_runtime)


def _end_in_order(number: int, frame: FrameType | None) -> None:
    """Close the runtime, then end as the signal would have ended the process."""
    close_runtime()
    signal.signal(number, signal.SIG_DFL)
    os.kill(os.getpid(), number)


def _nothing() -> None:
    """Scheduled only to wake a loop."""
