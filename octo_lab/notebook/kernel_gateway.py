"""``%octo_gateway``: the gateway of this kernel, served by its own runtime."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from concurrent.futures import FIRST_COMPLETED, Future, wait

from octo_lab.core.causes import cause_of
from octo_lab.core.errors import UsageError
from octo_lab.gateway.inside import Inside, serve_inside
from octo_lab.gateway.lock import gateway_pid
from octo_lab.notebook.host import Runtime
from octo_lab.web.endpoint import read_endpoint

STOP_SECONDS = 10.0
LOG_LINES = 20


class KernelGateway:
    """Starts and stops the gateway; called on the kernel's main thread."""

    def __init__(self, runtime: Callable[[], Runtime]) -> None:
        self._runtime = runtime
        self._inside: Inside | None = None
        self._serving: Future[None] | None = None

    def do(self, word: str) -> str:
        """``start``, ``stop``, ``status`` or ``logs``; what to show. Raises OctoErrors."""
        words: Mapping[str, Callable[[], str]] = {
            "": self.status,
            "start": self.start,
            "stop": self.stop,
            "status": self.status,
            "logs": self.logs,
        }
        if word not in words:
            raise UsageError(
                f"%octo_gateway does not know {word!r}", hint="start, stop, status or logs"
            )
        return words[word]()

    @property
    def running(self) -> Inside | None:
        alive = self._serving is not None and not self._serving.done()
        return self._inside if alive else None

    def start(self) -> str:
        if self.running is None:
            self._open()
        return self.status()

    def _open(self) -> None:
        runtime = self._runtime()
        opened: Future[Inside] = Future()
        serving = runtime.submit(serve_inside, runtime.opened.result(), opened.set_result)
        wait([opened, serving], return_when=FIRST_COMPLETED)
        if not opened.done():
            _result(serving)
        self._inside, self._serving = opened.result(), serving

    def stop(self) -> str:
        inside, serving = self.running, self._serving
        if inside is None or serving is None:
            raise UsageError("The gateway of this kernel does not run", hint="%octo_gateway start")

        async def stop() -> None:
            inside.stop.set()

        self._runtime().submit(stop).result(STOP_SECONDS)
        wait([serving], timeout=STOP_SECONDS)
        _result(serving)
        return "The gateway has stopped."

    def status(self) -> str:
        return f"The gateway runs: {self.running.line}" if self.running else self._elsewhere()

    def _elsewhere(self) -> str:
        runtime = self._runtime()
        folder = runtime.opened.result().setup.data_folder
        pid, endpoint = gateway_pid(folder), read_endpoint(folder)
        if pid is None or endpoint is None:
            return "The gateway does not run; `%octo_gateway start` starts it."
        return f"A gateway runs in process {pid}: http://{endpoint.authority}"

    def logs(self) -> str:
        if self._inside is None:
            raise UsageError("The gateway of this kernel has no log", hint="%octo_gateway start")
        return "\n".join([*self._inside.log.lines][-LOG_LINES:]) or "Nothing was logged yet."


def _result(serving: Future[None]) -> None:
    try:
        serving.result()
    except BaseExceptionGroup as exc:
        raise cause_of(exc) from None
