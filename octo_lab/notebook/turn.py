"""What an ask gives back: the turn, its text and what it cost."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Generator
from concurrent.futures import Future
from typing import Any

from octo_lab.core.errors import OctoError
from octo_lab.core.frames import turn_json
from octo_lab.core.mail import OutboundMessage
from octo_lab.core.messages import Message, ToolCall, Usage
from octo_lab.core.turns import Block, TextBlock, ToolBlock, TurnSnapshot, TurnState
from octo_lab.notebook.render import render_turn

Answered = TurnSnapshot | OutboundMessage


class Turn:
    """One question and its answer. Of a running turn (``--bg``) it is the latest state.

    ``await turn`` or ``turn.wait()`` wait for the end; ``str(turn)`` is the answer's text. An
    await that is cancelled, by an interrupt or a timeout, stops the turn.
    """

    def __init__(
        self,
        prompt: str,
        done: Future[Answered],
        running: Any = None,
        *,
        until_end: Callable[[], Awaitable[None]] | None = None,
        headless: bool = False,
        shown_here: Callable[[], bool] = lambda: False,
    ) -> None:
        self.prompt = prompt
        self._headless = headless
        self._shown_here = shown_here
        self._done = done
        self._running = running
        self._until_end = until_end

    @property
    def snapshot(self) -> TurnSnapshot | None:
        """The latest snapshot; None before the turn began, and for a command."""
        said = self._said
        return said if isinstance(said, TurnSnapshot) else None

    @property
    def _said(self) -> Answered | None:
        if self._done.done():
            return self._done.result()
        return self._running.latest if self._running is not None else None

    @property
    def done(self) -> bool:
        return self._done.done()

    @property
    def state(self) -> TurnState:
        """How it stands: running, completed, cancelled, interrupted or failed."""
        match self._said:
            case TurnSnapshot() as turn:
                return turn.state
            case OutboundMessage() as message:
                return "failed" if message.failed else "completed"
        return "running"

    @property
    def ok(self) -> bool:
        return self.state == "completed"

    @property
    def text(self) -> str:
        """The visible answer so far."""
        said = self._said
        return said.text if said is not None else ""

    @property
    def error(self) -> str:
        """What failed, with the next step; empty when nothing did."""
        match self._said:
            case TurnSnapshot(error=error) if error is not None:
                return str(OctoError(error.message, hint=error.hint))
            case OutboundMessage(failed=True) as message:
                return str(OctoError(message.text, hint=message.hint))
        return ""

    @property
    def blocks(self) -> tuple[Block, ...]:
        return self.snapshot.blocks if self.snapshot else ()

    @property
    def tool_calls(self) -> tuple[ToolBlock, ...]:
        return tuple(block for block in self.blocks if isinstance(block, ToolBlock))

    @property
    def usage(self) -> Usage:
        return self.snapshot.usage if self.snapshot else Usage()

    @property
    def cost(self) -> float | None:
        """In US dollars; None while the price of any of its requests is not known.

        What is known of it nevertheless is ``usage.cost``.
        """
        return self.usage.dollars

    @property
    def messages(self) -> tuple[Message, ...]:
        """The turn as the messages it consists of."""
        said = [Message(role="user", content=self.prompt)]
        for block in self.blocks:
            said += _messages(block)
        return tuple(said)

    def to_dict(self) -> dict[str, Any]:
        """Plain data, ready for JSON."""
        head = {"prompt": self.prompt, "state": self.state, "text": self.text, "error": self.error}
        turn = self.snapshot
        return {**turn_json(turn), **head} if turn else head

    def wait(self, timeout: float | None = None) -> Turn:
        """Block until the turn has ended; raises TimeoutError."""
        self._done.result(timeout)
        return self

    def __await__(self) -> Generator[Any, None, Turn]:
        if not self.done and self._until_end is not None:
            yield from self._until_end().__await__()
        return self

    def __str__(self) -> str:
        return self.text

    def __repr__(self) -> str:
        text = self.text if len(self.text) <= 60 else f"{self.text[:59]}…"
        return f"<Turn {self.state}: {text!r}>"

    @property
    def _ipython_display_(self) -> Callable[[], None] | None:
        """In the cell that has shown it already, nothing; anywhere else, its MIME bundle."""
        return _nothing_more if self._shown_here() else None

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> dict[str, str]:
        match self._said:
            case TurnSnapshot() as turn:
                return render_turn(turn, headless=self._headless)
            case OutboundMessage() as message:
                return {"text/plain": message.text, "text/markdown": message.text}
        return {"text/plain": repr(self)}


def _nothing_more() -> None:
    """The turn stands in this cell."""


def _messages(block: Block) -> list[Message]:
    match block:
        case TextBlock(text):
            return [Message(role="assistant", content=text)]
        case ToolBlock():
            call = ToolCall(id=block.call_id, name=block.name, arguments=block.arguments)
            result = Message(
                role="tool",
                content=block.output,
                tool_call_id=block.call_id,
                tool_name=block.name,
                media=block.media,
                outcome=block.outcome,
                seconds=block.seconds,
            )
            return [Message(role="assistant", tool_calls=(call,)), result]
    return []
