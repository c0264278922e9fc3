"""A turn as people see it: ordered blocks under a revision that only grows."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Literal

from octo_lab.core.messages import CallOutcome, Media, Usage

TurnState = Literal["running", "completed", "cancelled", "interrupted", "failed"]
ToolState = Literal["queued", "asking", "running", "ok", "error", "denied", "cancelled"]


@dataclass(frozen=True, slots=True)
class TextBlock:
    """Markdown from the model."""

    text: str


@dataclass(frozen=True, slots=True)
class ReasoningBlock:
    """The model's thinking, shown collapsed."""

    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolBlock:
    """One tool call and what came of it.

    ``arguments`` is JSON text; ``output`` a bounded preview; ``diff`` what it changed in files, as
    a bounded unified diff; ``seconds`` the wall time once ended. While ``state`` is ``asking``,
    ``approval_id`` names the question and ``detail`` and ``risk`` say what is asked.
    """

    call_id: str
    name: str
    arguments: str
    state: ToolState
    output: str = ""
    seconds: float | None = None
    media: tuple[Media, ...] = ()
    approval_id: str = ""
    detail: str = ""
    risk: str = ""
    diff: str = ""

    @property
    def outcome(self) -> CallOutcome:
        """How the call ended; one that did not end counts as broken off."""
        match self.state:
            case "ok" | "error" | "denied" as ended:
                return ended
        return "cancelled"


@dataclass(frozen=True, slots=True)
class NoticeBlock:
    """One line for the person that is no part of the answer."""

    text: str


@dataclass(frozen=True, slots=True)
class ErrorBlock:
    """What failed and the next step."""

    message: str
    hint: str = ""


Block = TextBlock | ReasoningBlock | ToolBlock | NoticeBlock | ErrorBlock


@dataclass(frozen=True, slots=True, kw_only=True)
class TurnSnapshot:
    """Everything a face needs to draw a turn at one moment.

    ``message_id`` is the inbound message that started it, ``session`` the text form of the
    session key. A terminal snapshot (any state but ``running``) is the last one of its turn.
    """

    turn_id: str
    message_id: str
    session: str
    revision: int
    state: TurnState
    prompt: str
    blocks: tuple[Block, ...] = ()
    usage: Usage = Usage()
    model: str = ""
    started_at: datetime | None = None
    seconds: float | None = None

    @property
    def terminal(self) -> bool:
        return self.state != "running"

    @property
    def text(self) -> str:
        """The visible answer: the text blocks, joined by a blank line."""
        return "\n\n".join(b.text for b in self.blocks if isinstance(b, TextBlock))

    @property
    def error(self) -> ErrorBlock | None:
        return next((b for b in self.blocks if isinstance(b, ErrorBlock)), None)
