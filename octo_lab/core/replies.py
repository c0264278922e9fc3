"""What controls are answered with: one value each, for every face."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime

from octo_lab.core.messages import Usage
from octo_lab.core.tool_mail import ToolAnswer, ToolList
from octo_lab.core.turns import TurnSnapshot


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
    Of the dialog's messages ``answering`` are being answered and ``waiting`` wait; ``programs`` go
    on running for it, a line each.
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
    answering: int = 0
    waiting: int = 0
    programs: tuple[str, ...] = ()


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
