"""The notebook as a face of the runtime: one per shell, behind ``%octo`` and ``ol``."""

from __future__ import annotations

import asyncio
import threading
from concurrent.futures import Future
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from IPython.core.interactiveshell import InteractiveShell

from octo_lab.app import setup_from
from octo_lab.config.place import Place as Files
from octo_lab.config.place import find_place
from octo_lab.config.process import live_environ
from octo_lab.core.errors import OctoError, UsageError
from octo_lab.core.keys import ChatAddress
from octo_lab.core.mail import Control, GetCommands, OutboundMessage, RunCommand, UseCassette
from octo_lab.core.replies import CommandList, ControlReply, Told
from octo_lab.notebook.asking import Asking
from octo_lab.notebook.bridge import Bridge, warn_of_old_patch
from octo_lab.notebook.channel import NAME, NotebookChannel
from octo_lab.notebook.host import Runtime
from octo_lab.notebook.interrupted import TurnCancelled, TurnInterrupted
from octo_lab.notebook.options import Parsed
from octo_lab.notebook.place import Place, chat_id, current_place, folder, this_run
from octo_lab.notebook.running import close_before_exit
from octo_lab.notebook.toolkit import Toolkit
from octo_lab.notebook.trust_word import trust_said
from octo_lab.notebook.turn import Answered, Turn
from octo_lab.notebook.waiting import check_may_ask
from octo_lab.notebook.words import said_by_word

if TYPE_CHECKING:
    from octo_lab.notebook.kernel_gateway import KernelGateway

COMPLETION_SECONDS = 0.5  # a person waits for the Tab key


class Face:
    """Starts the runtime at the first need. Methods are called on the kernel's threads."""

    def __init__(self, shell: InteractiveShell) -> None:
        self.shell = shell
        self.environ = live_environ()
        self.toolkit = Toolkit(shell, self._bridge)
        self._starting = threading.Lock()
        self._runtime: Runtime | None = None
        self._asking = Asking(shell, self.toolkit.private)
        self.gateway: KernelGateway | None = None  # once it was asked for

    def runtime(self) -> Runtime:
        """The runtime, started if need be; it may not be open yet. Raises ConfigError."""
        with self._starting:
            if self._runtime is None or self._runtime.ended:
                self._runtime = self._started()
            return self._runtime

    def _started(self) -> Runtime:
        warn_of_old_patch()
        channel = NotebookChannel()
        start = folder(self.shell, self.environ)
        setup = setup_from(start=start, environ=self.environ, channels=(channel,))
        setup = replace(
            setup, tools=self.toolkit.all(channel, timeout=setup.settings.tools.timeout)
        )
        chat = chat_id(self.shell, self.environ, setup.workspace)
        address = ChatAddress(channel=NAME, chat_id=chat)
        runtime = Runtime(self.shell, setup, address, channel)
        close_before_exit(runtime.close)
        runtime.start()
        runtime.opened.add_done_callback(self._join_tools)
        return runtime

    def _join_tools(self, opened: Any) -> None:
        if opened.exception() is None:
            self.toolkit.join(opened.result().add_tool)

    @property
    def gateway_word(self) -> str:
        """One line about the gateway, without starting anything."""
        running = self.gateway.running if self.gateway else None
        return running.line if running else "not running"

    def _bridge(self) -> Bridge:
        return self.runtime().bridge

    def close(self) -> None:
        self.toolkit.leave()
        runtime, self._runtime = self._runtime, None
        if runtime is not None:
            runtime.close()

    def control(self, control: Control) -> ControlReply:
        """Run a control and wait for its reply; raises OctoError."""
        if isinstance(control, RunCommand):
            self._asking.open_own_dialog(self.runtime(), self.place(), {})
        reply: ControlReply = self.runtime().control(control).result()
        return reply

    @property
    def trust_word(self) -> str:
        """How it stands with trust in the workspace's files, as they are now."""
        return self._files().asked.state

    def trust(self, text: str) -> str:
        """What ``%octo trust …`` says; the files are read as they are now. Raises OctoError."""
        return trust_said(text, self._files())

    def _files(self) -> Files:
        return find_place(self.runtime().workspace, self.environ)

    def command_names(self) -> tuple[str, ...]:
        """The slash commands, as they are typed; none while the runtime is not open."""
        runtime = self._runtime
        if runtime is None or not runtime.is_open:
            return ()
        try:
            reply = runtime.control(GetCommands()).result(COMPLETION_SECONDS)
        except (OctoError, TimeoutError):
            return ()
        commands = reply.commands if isinstance(reply, CommandList) else ()
        return tuple(f"/{name}" for info in commands for name in (info.name, *info.aliases))

    def use_cassette(self, mode: str, path: str) -> None:
        """Record to a file, replay one, or ``off``; raises UsageError."""
        if not path:
            raise UsageError(f"%octo_{mode} needs a file", hint=f"%octo_{mode} FILE, or off")
        control: Control = (
            UseCassette(mode="off")
            if path == "off"
            else UseCassette(mode="record" if mode == "record" else "replay", path=path)
        )
        reply = self.control(control)
        if isinstance(reply, Told) and reply.failed:
            raise UsageError(reply.text, hint=reply.hint)
        print(getattr(reply, "text", ""))  # noqa: T201 - what was done, in the cell

    async def run(self, parsed: Parsed, *, quiet_end: bool) -> Turn:
        """What an awaited ``%octo`` does; ``quiet_end``: an interrupt ends the cell in silence."""
        check_may_ask()
        await self._opened()
        said = said_by_word(self, parsed)
        if said is not None:
            return self._told(parsed.text, said)
        question = self._asking.begin(self.runtime(), parsed, self.place(), blocking=False)
        await question.wait()
        return self._asking.conclude(question, quiet_end=quiet_end)

    def _told(self, prompt: str, text: str) -> Turn:
        """A command's answer, which the cell has shown."""
        done: Future[Answered] = Future()
        done.set_result(OutboundMessage(address=self.runtime().address, text=text))
        return Turn(prompt, done, shown_here=this_run(self.shell))

    async def _opened(self) -> None:
        try:
            await asyncio.wait({asyncio.wrap_future(self.runtime().opened)})
        except asyncio.CancelledError:
            raise TurnCancelled from None

    def _open_blocking(self) -> None:
        try:
            self.runtime().opened.result()
        except KeyboardInterrupt:
            raise TurnInterrupted from None

    def run_blocking(self, parsed: Parsed) -> Turn:
        """What ``%octo`` does where nothing can be awaited."""
        check_may_ask()
        self._open_blocking()
        said = said_by_word(self, parsed)
        if said is not None:
            return self._told(parsed.text, said)
        question = self._asking.begin(self.runtime(), parsed, self.place(), blocking=True)
        question.block()
        return self._asking.conclude(question, quiet_end=False)

    def place(self) -> Place:
        return current_place(self.shell, self.environ)
