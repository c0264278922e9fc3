"""Real kernels for tests: started, asked, interrupted and killed as a front end would."""

from __future__ import annotations

import os
import queue
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from jupyter_client.blocking.client import BlockingKernelClient
from jupyter_client.kernelspec import KernelSpec
from jupyter_client.manager import KernelManager

ROOT = Path(__file__).parents[2]
WAIT = 60.0
OCTO = ["-Xfrozen_modules=off", "-m", "octo_lab.notebook"]
PLAIN = ["-m", "ipykernel_launcher"]


@dataclass
class Ran:
    """What running one cell gave."""

    reply: dict[str, Any] = field(default_factory=dict)
    outputs: list[dict[str, Any]] = field(default_factory=list)

    @property
    def status(self) -> str:
        return str(self.reply.get("status"))

    @property
    def printed(self) -> str:
        return "".join(o["content"]["text"] for o in self.of("stream"))

    @property
    def error(self) -> str:
        return "\n".join("\n".join(o["content"]["traceback"]) for o in self.of("error"))

    @property
    def value(self) -> str:
        """The last text shown: a result, or the latest state of a display."""
        shown = [o for o in self.outputs if "data" in o["content"]]
        return str(shown[-1]["content"]["data"].get("text/plain", "")) if shown else ""

    @property
    def everything(self) -> str:
        shown = [
            o["content"]["data"].get("text/plain", "")
            for o in self.outputs
            if "data" in o["content"]
        ]
        return "\n".join(part for part in [self.printed, *map(str, shown), self.error] if part)

    def of(self, kind: str) -> list[dict[str, Any]]:
        return [o for o in self.outputs if o["header"]["msg_type"] == kind]


class Kernel:
    """One kernel and its client."""

    def __init__(self, manager: KernelManager, client: BlockingKernelClient) -> None:
        self.manager = manager
        self.client = client

    def send(self, code: str, *, cell: str = "", stdin: bool = True) -> str:
        content = {
            "code": code,
            "silent": False,
            "store_history": True,
            "user_expressions": {},
            "allow_stdin": stdin,
            "stop_on_error": True,
        }
        message = self.client.session.msg("execute_request", content)
        if cell:
            message["metadata"]["cellId"] = cell
        self.client.shell_channel.send(message)
        return str(message["header"]["msg_id"])

    def run(
        self,
        code: str,
        *,
        cell: str = "",
        stdin: bool = True,
        answer: Callable[[str], str] | None = None,
        on_output: Callable[[dict[str, Any]], None] | None = None,
        wait: float = WAIT,
    ) -> Ran:
        """Run a cell to its end. ``answer`` answers ``input()``."""
        sent = self.send(code, cell=cell, stdin=stdin)
        return self.collect(sent, answer=answer, on_output=on_output, wait=wait)

    def collect(
        self,
        sent: str,
        *,
        answer: Callable[[str], str] | None = None,
        on_output: Callable[[dict[str, Any]], None] | None = None,
        wait: float = WAIT,
    ) -> Ran:
        ran, idle = Ran(), False
        deadline = time.monotonic() + wait
        while not (idle and ran.reply):
            if time.monotonic() > deadline:
                raise TimeoutError(f"the cell did not end: {ran.outputs[-3:]}")
            if not idle and (message := self._next(self.client.get_iopub_msg, sent, 0.05)):
                kind = message["header"]["msg_type"]
                idle = kind == "status" and message["content"]["execution_state"] == "idle"
                if kind not in ("status", "execute_input"):
                    ran.outputs.append(message)
                    if on_output:
                        on_output(message)
            if not ran.reply and (message := self._next(self.client.get_shell_msg, sent, 0.01)):
                ran.reply = message["content"]
            if answer and (message := self._next(self.client.get_stdin_msg, sent, 0.01)):
                self.client.input(answer(message["content"]["prompt"]))
        return ran

    def _next(self, get: Callable[..., Any], sent: str, wait: float) -> dict[str, Any] | None:
        try:
            message: dict[str, Any] = get(timeout=wait)
        except queue.Empty:
            return None
        return message if message["parent_header"].get("msg_id") == sent else None

    def interrupt(self) -> None:
        self.manager.interrupt_kernel()

    @property
    def pid(self) -> int:
        return int(self.manager.provisioner.pid)  # type: ignore[union-attr]


@contextmanager
def kernel(
    folder: Path, environ: dict[str, str] | None = None, *, argv: list[str] | None = None
) -> Iterator[Kernel]:
    """A kernel in ``folder`` with data below it; an Octo kernel unless ``argv`` says otherwise."""
    manager = KernelManager(transport="ipc", kernel_name="python3")
    manager._kernel_spec = KernelSpec(
        argv=[sys.executable, *(argv or OCTO), "-f", "{connection_file}"],
        display_name="test",
        language="python",
    )
    manager.connection_file = str(folder / "kernel.json")
    manager.start_kernel(cwd=str(folder), env=environment(folder, environ or {}))
    client = manager.blocking_client()
    client.start_channels()
    try:
        client.wait_for_ready(timeout=WAIT)
        yield Kernel(manager, client)
    finally:
        client.stop_channels()
        manager.shutdown_kernel(now=not manager.is_alive())
        manager.cleanup_resources()


def environment(folder: Path, more: dict[str, str]) -> dict[str, str]:
    """The variables of a kernel that knows no key, no local model, and its own home."""
    kept = {k: v for k, v in os.environ.items() if not k.endswith(("_API_KEY", "_BASE_URL"))}
    home = {name: str(folder) for name in ("HOME", "IPYTHONDIR", "XDG_CONFIG_HOME")}
    paths = {"PYTHONPATH": str(ROOT), "OCTO_HOME": str(folder / "data")}
    paths["OCTO_LOCAL_DETECT"] = "off"
    return {**kept, **home, **paths, **more}


def with_model(server: Any, **more: str) -> dict[str, str]:
    """The variables that connect a kernel to a model server."""
    return {"OPENAI_BASE_URL": server.base_url, "OPENAI_API_KEY": "sk-test", **more}
