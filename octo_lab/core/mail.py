"""What goes through the bus: messages in, messages out, controls and their replies."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Literal

from octo_lab.core.clock import utc_now
from octo_lab.core.events import Decision
from octo_lab.core.ids import new_id
from octo_lab.core.keys import ChatAddress
from octo_lab.core.messages import Media
from octo_lab.core.tasks import Task
from octo_lab.core.tool_mail import CallTool, GetProgress, GetTools


@dataclass(frozen=True, slots=True, kw_only=True)
class Attachment:
    """Context the person attached: ``text`` is its rendering for a model."""

    name: str
    text: str = ""
    media: tuple[Media, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class AskOptions:
    """How one message wants to be answered; everything has a default.

    ``session`` names a dialog by title, alias or id (made when a notebook names a new one).
    ``tools`` are name patterns to allow (``None``: all, empty: none). ``slot`` names the place
    the message came from (a cell's id): asking again from the same slot replaces that turn
    and what followed it, unless ``append``. ``stop`` are texts before which an answer ends, where
    the model's server knows that. ``timeout`` is in seconds, ``iterations`` a number of model
    calls; the settings' limits hold all the same. ``headless``: nobody can answer a question,
    so approvals go by policy.
    """

    model: str | None = None
    session: str | None = None
    tools: tuple[str, ...] | None = None
    temperature: float | None = None
    max_tokens: int | None = None
    stop: tuple[str, ...] = ()
    timeout: float | None = None
    iterations: int | None = None
    slot: str = ""
    append: bool = False
    headless: bool = False
    response_schema: Mapping[str, Any] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class InboundMessage:
    """Something a person said. ``private`` belongs to the channel; nobody else reads it.

    ``notices`` are lines that its turn shows to the person; no model gets them. ``taint`` says
    what private data it brings, as far as its face knows. ``task`` is one that the message hands
    in: the model is asked for that, and no command or word to stop is seen in ``text``.
    """

    address: ChatAddress
    sender_id: str
    text: str
    id: str = field(default_factory=new_id)
    received_at: datetime = field(default_factory=utc_now)
    attachments: tuple[Attachment, ...] = ()
    options: AskOptions = AskOptions()
    notices: tuple[str, ...] = ()
    taint: tuple[str, ...] = ()
    reply_to: str = ""
    task: Task | None = None
    private: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class OutboundMessage:
    """Something said outside a turn: a command's answer, a refusal, a notice.

    ``reply_to`` is the id of the inbound message it answers, ``""`` when it answers none.
    ``failed`` marks a refusal or an error, ``hint`` its next step. ``media`` are files for the
    person, which ``text`` names; ``turn_id`` is the turn that sent them.
    """

    address: ChatAddress
    text: str
    reply_to: str = ""
    failed: bool = False
    hint: str = ""
    media: tuple[Media, ...] = ()
    turn_id: str = ""
    id: str = field(default_factory=new_id)
    private: Mapping[str, str] = field(default_factory=dict)


# Controls: never queued behind a turn, one reply each.


@dataclass(frozen=True, slots=True, kw_only=True)
class Stop:
    """Stop the turn ``turn_id``, else whatever runs or waits in this chat's current dialog."""

    turn_id: str = ""
    message_id: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Settle:
    """Answer an approval."""

    approval_id: str
    decision: Decision


@dataclass(frozen=True, slots=True, kw_only=True)
class AnswerProposal:
    """What a person did with a cell that the agent proposed; ``shown``: they can see it now.

    ``put`` asks the kernel to put it below the running cell, where the face cannot. ``code`` is
    the cell as they left it.
    """

    call_id: str
    answer: Literal["shown", "inserted", "ran", "put", "copied", "dismissed"]
    code: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class RunCommand:
    """Run a slash command, given as typed (``/new My title``), on the dialog named ``session``,
    else on the chat's current one.
    """

    line: str
    session: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class GetSessions:
    """List this chat's dialogs, newest first; ``query`` filters by title and text.

    ``branches``: each followed by its earlier versions, which asking again has left behind.
    ``everywhere``: those of every chat of the workspace, also of notebooks and single runs.
    """

    query: str = ""
    limit: int = 200
    branches: bool = False
    everywhere: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class GetHistory:
    """The newest turns of a dialog (``""``: the current one), oldest first."""

    session: str = ""
    limit: int = 1000


@dataclass(frozen=True, slots=True, kw_only=True)
class GetStatus:
    """What ``%octo`` shows."""


@dataclass(frozen=True, slots=True, kw_only=True)
class GetProviders:
    """The providers that can be used; each is asked for its models for ``patience`` seconds."""

    patience: float = 0.3


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckProvider:
    """Ask ``name`` (a provider, or ``provider/model``) one real question; nothing is kept of it.

    It costs what a few words cost.
    """

    name: str
    patience: float = 60.0


@dataclass(frozen=True, slots=True, kw_only=True)
class GetRouting:
    """How the models that share the work are doing."""


@dataclass(frozen=True, slots=True, kw_only=True)
class GetCommands:
    """The slash commands this channel may use."""


@dataclass(frozen=True, slots=True, kw_only=True)
class EditSession:
    """Rename, archive or delete a dialog; exactly one of the three is set."""

    session: str
    title: str | None = None
    archived: bool | None = None
    deleted: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class UseCassette:
    """Record the model traffic to ``path``, replay it from there, or end either."""

    mode: Literal["record", "replay", "off"]
    path: str = ""


Control = (
    Stop
    | Settle
    | AnswerProposal
    | RunCommand
    | GetSessions
    | GetHistory
    | GetStatus
    | GetProviders
    | CheckProvider
    | GetRouting
    | GetCommands
    | EditSession
    | UseCassette
    | GetTools
    | CallTool
    | GetProgress
)


@dataclass(frozen=True, slots=True, kw_only=True)
class ControlRequest:
    """One control from one chat."""

    address: ChatAddress
    control: Control
    sender_id: str = ""
