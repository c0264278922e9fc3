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
from octo_lab.core.messages import Media, Usage
from octo_lab.core.tool_mail import CallTool, GetTools, ToolAnswer, ToolList
from octo_lab.core.turns import TurnSnapshot


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
    and what followed it, unless ``append``. ``timeout`` is in seconds. ``headless``: nobody
    can answer a question, so approvals go by policy.
    """

    model: str | None = None
    session: str | None = None
    tools: tuple[str, ...] | None = None
    temperature: float | None = None
    max_tokens: int | None = None
    timeout: float | None = None
    slot: str = ""
    append: bool = False
    headless: bool = False
    response_schema: Mapping[str, Any] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class InboundMessage:
    """Something a person said. ``private`` belongs to the channel; nobody else reads it.

    ``notices`` are lines that its turn shows to the person; no model gets them.
    """

    address: ChatAddress
    sender_id: str
    text: str
    id: str = field(default_factory=new_id)
    received_at: datetime = field(default_factory=utc_now)
    attachments: tuple[Attachment, ...] = ()
    options: AskOptions = AskOptions()
    notices: tuple[str, ...] = ()
    reply_to: str = ""
    private: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class OutboundMessage:
    """Something said outside a turn: a command's answer, a refusal, a notice.

    ``reply_to`` is the id of the inbound message it answers, ``""`` when it answers none.
    ``failed`` marks a refusal or an error, ``hint`` its next step.
    """

    address: ChatAddress
    text: str
    reply_to: str = ""
    failed: bool = False
    hint: str = ""
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
class RunCommand:
    """Run a slash command, given as typed (``/new My title``)."""

    line: str


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
)


@dataclass(frozen=True, slots=True, kw_only=True)
class ControlRequest:
    """One control from one chat."""

    address: ChatAddress
    control: Control
    sender_id: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Told:
    """A line to show. ``failed``: nothing was done, ``hint`` says the next step."""

    text: str
    failed: bool = False
    hint: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionInfo:
    """One dialog in a list. ``session`` is the text form of its key.

    ``branch_of`` is the key of the dialog that this one is an earlier version of.
    """

    session: str
    title: str
    current: bool
    archived: bool
    turns: int
    updated_at: datetime
    busy: bool = False
    branch_of: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionList:
    """Dialogs; ``earlier`` counts the versions that fit but are not listed."""

    sessions: tuple[SessionInfo, ...]
    earlier: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class History:
    """Turns of one dialog; one may still run."""

    session: str
    title: str
    turns: tuple[TurnSnapshot, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class ContextLayer:
    """A part of what the next turn would be told, and about how many tokens it has."""

    name: str
    tokens: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Status:
    """The state of the runtime as seen from one chat; tokens are of the current dialog.

    ``sources`` says of the model, the provider, its base URL and key which value won and where
    it came from, secrets masked. ``prices`` is the day of the price list, as YYYY-MM-DD.
    """

    session: str
    title: str
    model: str
    provider: str
    provider_note: str
    context_tokens: int
    context_window: int
    usage: Usage
    tools: tuple[str, ...]
    channels: tuple[str, ...]
    workspace: str
    data_folder: str
    running: int
    models: tuple[str, ...] = ()
    sources: Mapping[str, str] = field(default_factory=dict)
    layers: tuple[ContextLayer, ...] = ()
    prices: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class ProviderInfo:
    """One provider. ``state`` is ``reached``, ``refused``, ``not reached``, ``not checked``,
    ``not connected`` (something is missing) or ``built in``; ``base_url`` and ``key`` say where
    they came from, the key masked; ``note`` is what is wrong.
    """

    name: str
    state: str
    base_url: str = ""
    key: str = ""
    models: tuple[str, ...] = ()
    note: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelCard:
    """What is known of a model beyond its name; None and '' where it is not.

    Prices are US dollars per million tokens, ``capabilities`` some of ``tools``, ``vision``,
    ``reasoning``, ``schema``.
    """

    name: str
    context_window: int | None = None
    max_output: int | None = None
    price_in: float | None = None
    price_out: float | None = None
    capabilities: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class ProviderList:
    """``current``: the provider and model a new dialog would use, as ``provider/model``.

    ``cards`` are of the listed models that something is known of.
    """

    providers: tuple[ProviderInfo, ...]
    current: str = ""
    note: str = ""
    cards: tuple[ModelCard, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class ProviderCheck:
    """What came of one real question to a model.

    ``first`` and ``seconds``: until its first words, until the end. ``sources`` says which value
    won for its model, base URL and key, and where it came from. When it failed, ``error`` says
    why, ``kind`` names the sort of failure and ``hint`` the next step.
    """

    name: str
    answer: str = ""
    usage: Usage = Usage()
    first: float | None = None
    seconds: float = 0.0
    sources: Mapping[str, str] = field(default_factory=dict)
    error: str = ""
    kind: str = ""
    hint: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class SlotInfo:
    """One model that may answer, as the router measures it.

    ``state`` is ``closed`` (in use), ``open`` (failing, left alone) or ``half-open`` (on trial);
    latencies are seconds until the first words, ``throughput`` is tokens a second, ``cost`` US
    dollars so far (None: no price known), ``score`` the rank, lower is better.
    """

    name: str
    state: str
    calls: int
    errors: int
    error_rate: float
    latency: float | None
    p50: float | None
    p95: float | None
    throughput: float | None
    cost: float | None
    score: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Routing:
    """``mode`` is ``off``, ``hedge`` or ``lane``; the slots come in the order of preference."""

    mode: str
    slots: tuple[SlotInfo, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class CommandInfo:
    name: str
    usage: str
    summary: str
    aliases: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class CommandList:
    commands: tuple[CommandInfo, ...]


ControlReply = (
    Told
    | SessionList
    | History
    | Status
    | ProviderList
    | ProviderCheck
    | Routing
    | CommandList
    | ToolList
    | ToolAnswer
)
