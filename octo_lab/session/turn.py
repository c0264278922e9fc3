"""Reduces the events of one turn to ordered blocks; nobody else writes what people see of it."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any

from octo_lab.bus.events import Watch
from octo_lab.bus.latest import Latest
from octo_lab.core.events import (
    ApprovalAsked,
    ApprovalSettled,
    IterationStarted,
    Noticed,
    Steered,
    ToolFinished,
    ToolProgressed,
    ToolQueued,
    ToolStarted,
    TurnEvent,
)
from octo_lab.core.messages import Usage
from octo_lab.core.stream import ReasoningDelta, TextDelta, UsageReported
from octo_lab.core.text import head_and_tail
from octo_lab.core.turns import (
    Block,
    ErrorBlock,
    NoticeBlock,
    ReasoningBlock,
    TextBlock,
    ToolBlock,
    ToolState,
    TurnSnapshot,
    TurnState,
)
from octo_lab.security.redact import redact
from octo_lab.session.hiding import HIDDEN, Hiding

PREVIEW = 20_000


@dataclass(frozen=True, slots=True, kw_only=True)
class TurnFacts:
    """What is known of a turn from its start."""

    turn_id: str
    message_id: str
    session: str
    prompt: str
    model: str
    started_at: datetime


@dataclass(slots=True)
class _Growing:
    """A block that still gets text; joined only when somebody looks."""

    make: type[TextBlock] | type[ReasoningBlock]
    parts: list[str] = field(default_factory=list)
    built: TextBlock | ReasoningBlock | None = None

    def block(self) -> TextBlock | ReasoningBlock:
        if self.built is None or len(self.parts) > 1:
            text = "".join(self.parts)
            self.parts = [text]
            self.built = self.make(text)
        return self.built


class TurnController:
    """Owns the state of one turn. ``emit`` costs the same however long the turn is.

    A block that did not change is the same object in the next snapshot. ``tell`` is told every
    event, also those that change no block. Secrets are hidden before anything else is done.
    """

    def __init__(
        self, facts: TurnFacts, tell: Watch | None = None, hiding: Hiding | None = None
    ) -> None:
        self._hiding = hiding or Hiding(redact)
        self._facts = replace(facts, prompt=self._hiding.text(facts.prompt))
        self._tell = tell
        self._blocks: list[Block] = []
        self._growing: _Growing | None = None
        self._tools: dict[str, int] = {}
        self._usage = Usage()
        self._state: TurnState = "running"
        self._began = time.perf_counter()
        self._seconds: float | None = None
        self.latest: Latest[TurnSnapshot] = Latest(self.snapshot)

    def emit(self, event: TurnEvent) -> None:
        """Take in what happened next; after the end nothing changes any more."""
        if self.latest.over:
            return
        if self._hiding.passes(event):
            self._take(event)
            return
        for shown in self._hiding.feed(event):
            self._take(shown)

    def _take(self, event: TurnEvent) -> None:
        if self._tell is not None:
            self._tell(event)
        reduce = _REDUCE.get(type(event))
        if reduce is not None:  # other events show nothing new
            reduce(self, event)
            self.latest.touch()

    def use_model(self, name: str) -> None:
        """From its next step on another model answers."""
        if name != self._facts.model:
            self._facts = replace(self._facts, model=name)
            self.emit(Noticed(f"From its next step on `{name}` answers."))

    @property
    def model(self) -> str:
        """Who answered last, as ``provider/model``."""
        return self._facts.model

    def end(self, state: TurnState, *, error: str = "", hint: str = "") -> None:
        """Publish the terminal snapshot; call it when the turn is stored."""
        if self.latest.over:
            return
        for shown in self._hiding.end():
            self._take(shown)
        self._freeze()
        self._close_tools()
        failed = [ErrorBlock(self._hiding.text(error), self._hiding.text(hint))] if error else []
        hidden = [NoticeBlock(HIDDEN)] if self._hiding.hid else []
        self._blocks += (*hidden, *failed)
        self._state = state
        self._seconds = time.perf_counter() - self._began
        self.latest.end()

    def snapshot(self) -> TurnSnapshot:
        facts = self._facts
        return TurnSnapshot(
            turn_id=facts.turn_id,
            message_id=facts.message_id,
            session=facts.session,
            revision=self.latest.version,
            state=self._state,
            prompt=facts.prompt,
            blocks=self._all_blocks(),
            usage=self._usage,
            model=facts.model,
            started_at=facts.started_at,
            seconds=self._seconds,
        )

    def _all_blocks(self) -> tuple[Block, ...]:
        growing = self._growing
        return (*self._blocks, growing.block()) if growing else tuple(self._blocks)

    def _freeze(self) -> None:
        if self._growing is not None:
            self._blocks.append(self._growing.block())
            self._growing = None

    def _grow(self, make: type[TextBlock] | type[ReasoningBlock], text: str) -> None:
        growing = self._growing
        if growing is None or growing.make is not make:
            self._freeze()
            growing = self._growing = _Growing(make)
        growing.parts.append(text)

    def _text(self, event: TextDelta) -> None:
        self._grow(TextBlock, event.text)

    def _reasoning(self, event: ReasoningDelta) -> None:
        self._grow(ReasoningBlock, event.text)

    def _used(self, event: UsageReported) -> None:
        self._usage += event.usage
        if event.by:
            self._facts = replace(self._facts, model=event.by)

    def _iteration(self, event: IterationStarted) -> None:
        self._freeze()

    def _notice(self, event: Noticed) -> None:
        self._freeze()
        self._blocks.append(NoticeBlock(event.text))

    def _queued(self, event: ToolQueued) -> None:
        call = event.call
        self._freeze()
        self._tools[call.id] = len(self._blocks)
        self._blocks.append(
            ToolBlock(call_id=call.id, name=call.name, arguments=call.arguments, state="queued")
        )

    def _change(self, call_id: str, change: Callable[[ToolBlock], ToolBlock]) -> None:
        index = self._tools.get(call_id, -1)
        block = self._blocks[index] if index >= 0 else None
        if isinstance(block, ToolBlock):
            self._blocks[index] = change(block)

    def _started(self, event: ToolStarted) -> None:
        self._change(event.call_id, lambda block: replace(block, state="running"))

    def _progressed(self, event: ToolProgressed) -> None:
        self._change(
            event.call_id, lambda block: replace(block, output=_tail(block.output + event.text))
        )

    def _finished(self, event: ToolFinished) -> None:
        output = head_and_tail(event.output, PREVIEW)
        self._change(
            event.call_id,
            lambda block: replace(
                block,
                state=event.state,
                output=output,
                seconds=event.seconds,
                media=tuple(media for media in event.media if not media.sent),
                diff=event.diff,
                approval_id="",
            ),
        )

    def _asked(self, event: ApprovalAsked) -> None:
        self._change(
            event.call_id,
            lambda block: replace(
                block,
                state="asking",
                approval_id=event.approval_id,
                detail=event.detail,
                risk=event.risk,
            ),
        )

    def _settled(self, event: ApprovalSettled) -> None:
        state: ToolState = "denied" if event.decision == "deny" else "queued"
        self._change(
            event.call_id,
            lambda block: replace(block, state=state, approval_id=""),
        )

    def _steered(self, event: Steered) -> None:
        self._freeze()
        self._blocks.append(steered_block(event.text))

    def _close_tools(self) -> None:
        for index in self._tools.values():
            block = self._blocks[index]
            if isinstance(block, ToolBlock) and block.state in ("queued", "asking", "running"):
                self._blocks[index] = replace(block, state="cancelled", approval_id="")


def steered_block(text: str) -> NoticeBlock:
    """What the person said in the middle of the turn."""
    return NoticeBlock(f"You said: {head_and_tail(text.strip(), PREVIEW)}")


def _tail(text: str) -> str:
    """The end of a running call's output, for its preview."""
    return text if len(text) <= PREVIEW else text[-PREVIEW // 2 :]


_REDUCE: dict[type, Callable[[TurnController, Any], None]] = {
    TextDelta: TurnController._text,
    ReasoningDelta: TurnController._reasoning,
    UsageReported: TurnController._used,
    IterationStarted: TurnController._iteration,
    ToolQueued: TurnController._queued,
    ToolStarted: TurnController._started,
    ToolProgressed: TurnController._progressed,
    ToolFinished: TurnController._finished,
    ApprovalAsked: TurnController._asked,
    ApprovalSettled: TurnController._settled,
    Noticed: TurnController._notice,
    Steered: TurnController._steered,
}
