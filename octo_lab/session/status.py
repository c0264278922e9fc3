"""What the runtime is doing, as seen from one chat."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import partial, reduce

from octo_lab.agent.prompt import PromptFacts, prompt_layers
from octo_lab.core.errors import OctoError
from octo_lab.core.keys import ChatAddress
from octo_lab.core.messages import Message, Usage
from octo_lab.core.money import spent_text
from octo_lab.core.replies import ContextLayer, Status
from octo_lab.core.text import first_line
from octo_lab.llm.metering.pricing import PRICES
from octo_lab.llm.tokens import estimate_tokens, message_tokens
from octo_lab.session.ask import AskPolicy
from octo_lab.session.dialogs import Dialogs
from octo_lab.session.history import told_summary
from octo_lab.session.models import ChosenModel, ModelSource
from octo_lab.session.worker import Workers
from octo_lab.storage.sessions import SessionRow
from octo_lab.storage.summaries import summary_of
from octo_lab.storage.turns import TurnRecord, load_turns
from octo_lab.tools.sandbox.programs import Programs
from octo_lab.tools.tool import Tool

GLANCE = 0.3  # seconds a server may take to say which models it has


@dataclass(frozen=True, slots=True, kw_only=True)
class StatusDesk:
    """Collects a Status."""

    dialogs: Dialogs
    workers: Workers
    models: ModelSource
    policy: AskPolicy
    tools: Iterable[Tool]
    channels: Callable[[], tuple[str, ...]]
    data_folder: str
    news: Callable[[], str] = str  # settings may have changed; see TurnParts
    programs: Programs | None = None

    async def status(self, address: ChatAddress, name: str = "") -> Status:
        """Of the dialog of that name, else of the chat's current one."""
        news = self.news()
        session = await self.dialogs.meant(address, name)
        turns = await self._turns(session)
        chosen, note = await self._model(session)
        layers = await self._layers(session, turns, address.channel)
        return Status(
            session=str(session.key) if session else "",
            title=session.title if session else "",
            model=chosen.provider.model if chosen else "",
            provider=chosen.provider.name if chosen else "",
            provider_note=" ".join(filter(None, (note, news))),
            context_tokens=sum(layer.tokens for layer in layers),
            layers=layers,
            context_window=chosen.window if chosen else 0,
            usage=reduce(Usage.__add__, (turn.turn.usage for turn in turns), Usage()),
            tools=self._tools(address.channel),
            channels=self.channels(),
            workspace=str(self.policy.workspace),
            data_folder=self.data_folder,
            running=len(self.workers.running),
            models=self.models.names(),
            sources=self.models.connection(chosen) if chosen else {},
            prices=_price_day(chosen),
            answering=self.workers.answering(session.id) if session else 0,
            waiting=self.workers.waiting(session.id) if session else 0,
            programs=self._programs(session),
        )

    async def _layers(
        self, session: SessionRow | None, turns: list[TurnRecord], channel: str
    ) -> tuple[ContextLayer, ...]:
        """What fills the window, in the order it is sent."""
        offered = [tool for tool in self.tools if not self.policy.why_not(tool, channel)]
        facts = PromptFacts(
            channel=channel,
            tools=[tool.name for tool in offered],
            texts=await self.policy.prompt.texts(),
        )
        layers = prompt_layers(facts)
        parts: dict[str, int] = {layer.name: estimate_tokens(layer.text) for layer in layers}
        told = (f"{tool.name}{tool.description}{tool.schema}" for tool in offered)
        parts["tools"] = sum(map(estimate_tokens, told))
        if session is not None:
            summary = await self.dialogs.database.read(partial(summary_of, session_id=session.id))
            parts["summary"] = sum(map(message_tokens, told_summary(summary)))
            parts["conversation"] = sum(map(message_tokens, _said(turns, session.cursor)))
        named = ((name, tokens) for name, tokens in parts.items() if tokens)
        return tuple(ContextLayer(name=name, tokens=tokens) for name, tokens in named)

    async def _turns(self, session: SessionRow | None) -> list[TurnRecord]:
        if session is None:
            return []
        return await self.dialogs.database.read(
            lambda db: load_turns(db, session.id, context_only=False)
        )

    async def _model(self, session: SessionRow | None) -> tuple[ChosenModel | None, str]:
        try:
            chosen = await self.models.choose(session.model if session else None, GLANCE)
        except OctoError as exc:
            return None, str(exc)
        return chosen, chosen.note

    def _programs(self, session: SessionRow | None) -> tuple[str, ...]:
        if session is None or self.programs is None:
            return ()
        running = (one for one in self.programs.of(str(session.key)) if one.state == "running")
        mask = self.policy.privacy.mask
        return tuple(f"{one.name}: {first_line(mask(one.command), 60)}" for one in running)

    def _tools(self, channel: str) -> tuple[str, ...]:
        return tuple(tool.name for tool in self.tools if not self.policy.why_not(tool, channel))


def _price_day(chosen: ChosenModel | None) -> str:
    """The day of the model's price, '' when that is the user's own; else that of the list."""
    price = chosen.choice.config.price if chosen and chosen.choice else None
    day = price.as_of if price else PRICES.as_of
    return day.isoformat() if day else ""


def _said(turns: list[TurnRecord], cursor: str | None) -> Iterator[Message]:
    """What the next turn would be told of the past in full."""
    ids = [record.turn.id for record in turns]
    start = ids.index(cursor) + 1 if cursor in ids else 0
    return (message for record in turns[start:] for message in record.messages)


def status_text(status: Status) -> str:
    """The status in a few lines of Markdown."""
    used, window = status.context_tokens, status.context_window
    rows = {
        **({} if status.sources else {"model": _plain_model(status)}),
        **status.sources,
        "note": status.provider_note,
        "session": status.title or status.session or "none yet",
        "context": f"{used:,} of {window:,} tokens",
        "used": f"{status.usage.input_tokens:,} tokens in, {status.usage.output_tokens:,} out",
        "cost": spent_text(status.usage, status.prices),
        "tools": ", ".join(status.tools) or "none",
        "channels": ", ".join(status.channels) or "none",
        "workspace": status.workspace,
        "data": status.data_folder,
        "running": f"{status.running} turns",
        "answering": f"{status.answering} messages here" if status.answering > 1 else "",
        "waiting": f"{status.waiting} messages" if status.waiting else "",
        "programs": "; ".join(status.programs),
    }
    return "\n".join(f"- {name}: {value}" for name, value in rows.items() if value)


def _plain_model(status: Status) -> str:
    return f"{status.provider}/{status.model}" if status.model else "none"
