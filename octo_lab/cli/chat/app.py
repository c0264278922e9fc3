"""The screen of ``octo chat``: what is heard on top, the prompt below."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from typing import ClassVar

import anyio
from textual.actions import SkipAction
from textual.app import App, ComposeResult
from textual.binding import Binding
from textual.containers import VerticalScroll
from textual.css.query import NoMatches
from textual.widgets import Footer, Markdown, Static

from octo_lab.channels.inbox import Heard
from octo_lab.cli.ask import FAILED
from octo_lab.cli.chat.approval import ApprovalBar
from octo_lab.cli.chat.prompt import PromptArea, PromptBox
from octo_lab.cli.chat.sessions import SessionScreen
from octo_lab.cli.chat.turn_view import TurnView
from octo_lab.cli.conversation import Conversation
from octo_lab.cli.outcome import Outcome
from octo_lab.cli.printer import printable
from octo_lab.core.causes import cause_of
from octo_lab.core.errors import DeliveryError, OctoError
from octo_lab.core.mail import (
    AskOptions,
    Control,
    GetCommands,
    GetHistory,
    GetSessions,
    GetStatus,
    OutboundMessage,
    RunCommand,
    Settle,
    Stop,
)
from octo_lab.core.replies import CommandList, ControlReply, History, SessionList, Status, Told
from octo_lab.core.turns import TurnSnapshot

HISTORY = 100
FIRST_WAIT, LONGEST_WAIT = 0.2, 5.0  # seconds until a lost gateway is looked for again
LEAVING = frozenset({"exit", "quit", ":q", "/exit", "/quit"})
Opening = Callable[[], AbstractAsyncContextManager[Conversation]]


class ChatApp(App[Outcome]):
    """Talks through one Conversation, which it opens and closes. Ends with an Outcome.

    ``reopening`` opens it again after it was cut; without one, or before the first success, the
    app ends.
    """

    CSS_PATH = "chat.tcss"
    TITLE = "octo"
    ENABLE_COMMAND_PALETTE = False
    BINDINGS: ClassVar = [
        Binding("escape", "stop", "Stop"),
        Binding("ctrl+o", "sessions", "Sessions", priority=True),
        Binding("ctrl+n", "say('/new')", "New", priority=True),
        Binding("ctrl+t", "toggle_dark", "Dark/light", priority=True),
        Binding("ctrl+q", "quit", "Quit", priority=True),
        Binding("ctrl+c", "interrupt", show=False, priority=True),
        Binding("ctrl+d", "leave", show=False, priority=True),
    ]

    def __init__(
        self,
        opening: Opening,
        options: AskOptions = AskOptions(),
        *,
        session: str = "",
        reopening: Opening | None = None,
    ) -> None:
        super().__init__()
        self._reopening = reopening
        self._failures = 0
        self._begun = False
        self._wanted = session
        self._opening = opening
        self._options = options
        self._conversation: Conversation | None = None
        self._session = ""
        self._where: tuple[str, ...] = ()
        self._waits = False  # for the first word on what was said last
        self._live: set[str] = set()
        self._leaves = False  # at the next Ctrl-C

    def compose(self) -> ComposeResult:
        yield Static("connecting…", id="status", markup=False)
        yield VerticalScroll(id="log", can_focus=False)
        yield PromptBox()
        yield Footer()

    def on_mount(self) -> None:
        self.query_one("#log", VerticalScroll).anchor()
        self._box.area.focus()
        self.run_worker(self._converse(), name="conversation")

    @property
    def _turns(self) -> VerticalScroll:
        return self.query_one("#log", VerticalScroll)

    @property
    def _box(self) -> PromptBox:
        return self.screen_stack[0].query_one(PromptBox)

    # listening

    async def _converse(self) -> None:
        error = await self._talk(self._opening)
        while self._reopening and self._begun:
            wait = min(FIRST_WAIT * 2**self._failures, LONGEST_WAIT)
            self._failures += 1
            self._say_where(error.message, error.hint, "trying again", "Ctrl-Q leaves")
            await anyio.sleep(wait)
            error = await self._talk(self._reopening)
        self.exit(Outcome(code=FAILED, error=error.message, hint=error.hint))

    async def _talk(self, opening: Opening) -> OctoError:
        """Converse until something cuts it off; returns what."""
        try:
            async with opening() as conversation:
                self._conversation = conversation
                self._session = ""  # what has been missed meanwhile is drawn anew
                await self._begin(conversation)
                self._begun, self._failures = True, 0
                async for heard in conversation.heard():
                    await self._show(heard)
        except (OctoError, BaseExceptionGroup) as exc:
            cause = cause_of(exc)
            if not isinstance(cause, OctoError):
                raise
            return cause
        finally:
            self._conversation = None
            self._waits = False  # nothing is left to stop
            self._live.clear()
        return DeliveryError("The conversation has ended")

    async def _begin(self, conversation: Conversation) -> None:
        commands = await conversation.control(GetCommands())
        if isinstance(commands, CommandList):
            self._box.commands = commands.commands
        if self._wanted:
            await self._enter(conversation, self._wanted)
            self._wanted = ""
        await self._follow_session()

    async def _enter(self, conversation: Conversation, name: str) -> None:
        """Go to the session of that name; a new one gets it."""
        told = await conversation.control(RunCommand(line=f"/switch {name}"))
        if isinstance(told, Told) and told.failed:
            await conversation.control(RunCommand(line=f"/new {name}"))

    async def _follow_session(self) -> None:
        """Show which session the chat is in; draw its past when it is another."""
        status = await self._control(GetStatus())
        if not isinstance(status, Status):
            return
        self._show_status(status)
        if status.session != self._session:
            self._session = status.session
            self._live.clear()
            await self._turns.remove_children()
            await self._show_history()

    async def _show_history(self) -> None:
        history = await self._control(GetHistory(session=self._session, limit=HISTORY))
        if isinstance(history, History):
            for turn in history.turns:
                await self._show_turn(turn)

    def _show_status(self, status: Status) -> None:
        model = "/".join(filter(None, [status.provider, status.model]))
        place = self._conversation.place if self._conversation else ""
        self._say_where(status.title or "new session", model, place)

    def _say_where(self, *words: str) -> None:
        self._where = words
        if not self._leaves:
            self._write_status(*words)

    def _write_status(self, *words: str) -> None:
        status = self.screen_stack[0].query_one("#status", Static)
        status.update(printable(" · ".join(filter(None, words))))

    async def _show(self, heard: Heard) -> None:
        self._waits = False
        if isinstance(heard, OutboundMessage):
            await self._say(heard.text, hint=heard.hint, failed=heard.failed)
            await self._follow_session()
        elif heard.session == self._session or not self._session:
            self._session = heard.session
            await self._show_turn(heard)
            if heard.terminal:
                await self._follow_session()

    async def _show_turn(self, turn: TurnSnapshot) -> None:
        (self._live.discard if turn.terminal else self._live.add)(turn.turn_id)
        try:
            view = self._turns.query_one(f"#turn-{turn.turn_id}", TurnView)
        except NoMatches:
            await self._turns.mount(TurnView(turn))
        else:
            await view.show(turn)

    async def _say(self, text: str, *, hint: str = "", failed: bool = False) -> None:
        if not failed:
            await self._turns.mount(Markdown(printable(text), classes="said", open_links=False))
            return
        line = f"✗ {text}" + (f"\n  {hint}" if hint else "")
        await self._turns.mount(Static(printable(line), classes="error", markup=False))

    def _fatal_error(self) -> None:
        """A bug. Textual would print local variables, keys perhaps among them."""
        what = type(self._exception).__name__
        error = f"The screen failed: {what}: {self._exception}"
        self.exit(Outcome(code=FAILED, error=error, hint="please report this"))

    # speaking

    async def on_prompt_area_sent(self, event: PromptArea.Sent) -> None:
        text = event.text.strip()
        if text.lower() in LEAVING:
            self.exit(Outcome())
        elif text:
            self._box.area.clear()
            if not await self.action_say(event.text) and not self._box.area.text:
                self._box.area.insert(event.text)  # nobody has heard it: it must not be lost

    async def action_say(self, text: str) -> bool:
        self._stay()
        if self._conversation is None:
            await self._say("Not connected yet", hint="press Enter again in a moment", failed=True)
            return False
        try:
            self._waits = True
            await self._conversation.ask(text, self._options)
        except OctoError as exc:
            self._waits = False
            await self._say(exc.message, hint=exc.hint, failed=True)
            return False
        return True

    async def action_stop(self) -> None:
        await self._tell(Stop())

    # leaving

    async def action_interrupt(self) -> None:
        """Ctrl-C: stop the turn, else empty the prompt, else leave at the second time."""
        if self._live or self._waits:
            self._stay()
            await self.action_stop()
        elif self._box.area.text:
            self._box.area.clear()
        elif self._leaves:
            self.exit(Outcome())
        else:
            self._leaves = True
            self._write_status("press Ctrl-C again or Ctrl-D to quit")

    def action_leave(self) -> None:
        """Ctrl-D: leave; in a text it deletes, as everywhere."""
        if self._box.area.text:
            raise SkipAction
        self.exit(Outcome())

    def on_text_area_changed(self) -> None:
        """Who types on does not leave."""
        self._stay()

    def _stay(self) -> None:
        if self._leaves:
            self._leaves = False
            self._say_where(*self._where)

    # answering

    async def on_approval_bar_asked(self, event: ApprovalBar.Asked) -> None:
        """Take the focus, unless the person is writing: a letter must not become consent."""
        if not self._box.area.text:
            event.bar.focus()

    def on_approval_bar_typed(self, event: ApprovalBar.Typed) -> None:
        self._box.area.focus()
        self._box.area.insert(event.text)

    async def on_approval_bar_decided(self, event: ApprovalBar.Decided) -> None:
        self._box.area.focus()
        await self._tell(Settle(approval_id=event.approval_id, decision=event.decision))

    async def action_sessions(self) -> None:
        reply = await self._control(GetSessions())
        if isinstance(reply, SessionList):
            self.push_screen(SessionScreen(reply.sessions), self._go_to)

    async def _go_to(self, session: str | None) -> None:
        if session and session != self._session:
            await self.action_say(f"/switch {session.rpartition(':')[2]}")

    def action_toggle_dark(self) -> None:
        self.theme = "textual-light" if self.current_theme.dark else "textual-dark"

    async def _tell(self, control: Control) -> None:
        """Do something; say only what went wrong."""
        reply = await self._control(control)
        if isinstance(reply, Told) and reply.failed:
            await self._say(reply.text, hint=reply.hint, failed=True)

    async def _control(self, control: Control) -> ControlReply | None:
        if self._conversation is None:
            return None
        try:
            return await self._conversation.control(control)
        except OctoError as exc:
            return Told(text=exc.message, failed=True, hint=exc.hint)
