"""What a turn is made with and what it is while it runs."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Literal, Protocol

import anyio

from octo_lab.agent.hooks import HookSet
from octo_lab.agent.prompt import LayerName
from octo_lab.agent.session_limits import SessionUsages
from octo_lab.agent.task import NO_EPISODES, Episodes
from octo_lab.agent.transcript import Transcript
from octo_lab.bus.events import EventBus
from octo_lab.bus.latest import Latest
from octo_lab.core.keys import ChatAddress
from octo_lab.core.mail import InboundMessage
from octo_lab.core.turns import TurnSnapshot
from octo_lab.llm.provider import Provider
from octo_lab.llm.resilience.pace import Pace
from octo_lab.llm.resilience.swappable import Swappable
from octo_lab.security.redact import Redactor, redact
from octo_lab.security.taint import Taint
from octo_lab.session.approvals import ApprovalDesk
from octo_lab.session.ask import AskPolicy
from octo_lab.session.history import Earlier
from octo_lab.session.job import Job as Job
from octo_lab.session.models import ChosenModel, ModelSource
from octo_lab.session.steering import SteerBox
from octo_lab.session.turn import TurnController
from octo_lab.storage.database import Database
from octo_lab.storage.history import Seen
from octo_lab.storage.turns import TurnRow
from octo_lab.tools.changes import Changes
from octo_lab.tools.screen import Screen
from octo_lab.tools.tool import Tool

PROMPT_SECONDS = 1.0  # who begins to answer within this is not slow


class Show(Protocol):
    """Delivers a turn while it runs; see ``bus.delivery.Delivery.show``."""

    async def __call__(self, origin: InboundMessage, turn: Latest[TurnSnapshot]) -> None: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class TurnParts:
    """What every turn of this runtime is made with. ``attended``: somebody there can answer.

    ``news`` is called before each turn: settings may have changed; a line for the person, or ''.
    ``events`` tells those who watch a message what its turn does, ``episodes`` keeps what came of
    tasks.
    """

    database: Database
    owner: str
    policy: AskPolicy
    models: ModelSource
    tools: Iterable[Tool]
    desk: ApprovalDesk
    show: Show
    attended: Callable[[ChatAddress], bool]
    news: Callable[[], str] = str
    hooks: HookSet | None = None
    usages: SessionUsages = field(default_factory=SessionUsages)
    pace: Pace = field(default_factory=lambda: Pace(least=PROMPT_SECONDS))
    events: EventBus = field(default_factory=EventBus)
    episodes: Episodes = NO_EPISODES


class Stopper:
    """Ends one turn from outside, also before it has begun."""

    def __init__(self) -> None:
        self.scope = anyio.CancelScope()
        self.state: Literal["cancelled", "interrupted"] = "interrupted"

    def stop(self, state: Literal["cancelled", "interrupted"] = "cancelled") -> None:
        self.state = state
        self.scope.cancel()


@dataclass(frozen=True, slots=True, kw_only=True)
class RunningTurn:
    """A turn at work; ``model`` is the one it began with, ``provider`` asks whoever is
    ``answering`` now; ``texts`` are layers of the prompt, as their files are when it begins.
    """

    job: Job
    row: TurnRow
    model: ChosenModel
    provider: Provider
    answering: Swappable
    controller: TurnController
    stopper: Stopper
    earlier: Earlier
    texts: Mapping[LayerName, str] = field(default_factory=dict)
    news: str = ""
    transcript: Transcript = field(default_factory=Transcript)
    said: SteerBox = field(default_factory=SteerBox)
    changes: Changes = field(default_factory=Changes)
    taint: Taint = field(default_factory=Taint)
    screen: Screen = field(default_factory=Screen)
    mask: Redactor = redact

    @property
    def seen(self) -> Seen:
        """What the conversation has seen so far that calls for care."""
        return Seen(self.taint.reasons, self.screen.alarms.reasons)

    def use(self, model: ChosenModel) -> None:
        """From the next request on, ask another model."""
        self.answering.inner = model.provider
        self.controller.use_model(model.name)
