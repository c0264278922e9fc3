"""Turns what a person sent into what the agent needs: user message, tools, prompt, context."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from octo_lab.agent.limits import Limits
from octo_lab.agent.loop import TurnInput
from octo_lab.agent.prompt import LayerName, PromptFacts, system_prompt
from octo_lab.agent.task import instruction
from octo_lab.core.mail import Attachment, InboundMessage
from octo_lab.core.messages import Message
from octo_lab.core.text import clean
from octo_lab.security.paths import Enclosure, Root
from octo_lab.session.compact import SessionCompaction
from octo_lab.session.history import Earlier
from octo_lab.session.privacy import Privacy
from octo_lab.session.prompt_files import PromptFiles
from octo_lab.tools.policy import (
    ChannelTools,
    channel_tools,
    select_tools,
    unmatched,
    why_not,
)
from octo_lab.tools.profiles import ToolProfile, profile_of, shaped
from octo_lab.tools.tool import Tool
from octo_lab.tools.workspace import enclosure

NO_TEXTS: Mapping[LayerName, str] = {}


@dataclass(slots=True, kw_only=True)
class AskPolicy:
    """What the owner set for all turns. ``history`` is a number of turns.

    ``private`` are folders no tool shows: octo_lab's own; ``roots`` are other folders that may be
    used, with ``soft`` any. Changes only between two turns.
    """

    workspace: Path
    private: tuple[Path, ...] = ()
    roots: tuple[Root, ...] = ()
    soft: bool = False
    limits: Limits = Limits()
    allow: Sequence[str] = ("*",)
    deny: Sequence[str] = ()
    channels: Mapping[str, ChannelTools] = field(default_factory=dict)
    profiles: Mapping[str, ToolProfile] = field(default_factory=dict)
    history: int = 50
    privacy: Privacy = Privacy()
    compaction: SessionCompaction = SessionCompaction()
    prompt: PromptFiles = field(init=False)

    def __post_init__(self) -> None:
        self.prompt = PromptFiles(self.workspace)

    def take(self, other: AskPolicy) -> None:
        """From the next turn on, what can be set anew is as in ``other``."""
        self.limits, self.history = other.limits, other.history
        self.allow, self.deny = other.allow, other.deny
        self.channels, self.profiles = other.channels, other.profiles
        self.privacy, self.compaction = other.privacy, other.compaction
        self.prompt.known = other.prompt.known

    def files(self) -> Enclosure:
        """The files that turns may use."""
        return enclosure(self.workspace, self.private, self.roots, soft=self.soft)

    def limits_for(self, message: InboundMessage) -> Limits:
        limits, options = self.limits, message.options
        if options.timeout is not None:
            limits = replace(limits, seconds=min(options.timeout, limits.seconds))
        if options.iterations is not None:
            limits = replace(limits, iterations=max(1, min(options.iterations, limits.iterations)))
        return limits

    def tools_for(
        self, message: InboundMessage, tools: Iterable[Tool], model: str = ""
    ) -> list[Tool]:
        """Those of one turn, in the order and by the names that ``model`` knows them."""
        profile = profile_of(model, self.profiles)
        return shaped(self._offered(message, tools, message.options.tools, profile), profile)

    def unmatched(self, message: InboundMessage, tools: Iterable[Tool]) -> str:
        """One line naming what of ``--tools`` fits no tool there is; else empty."""
        wanted = message.options.tools or ()
        return unmatched(wanted, self._offered(message, tools, None)) if wanted else ""

    def _offered(
        self,
        message: InboundMessage,
        tools: Iterable[Tool],
        patterns: Sequence[str] | None,
        profile: ToolProfile = ToolProfile(),
    ) -> list[Tool]:
        return select_tools(
            tools,
            channel=message.address.channel,
            patterns=patterns,
            allow=(*self.allow, *profile.extras) if self.allow else (),
            deny=(*self.deny, *profile.deny),
            channels=self.channels,
        )

    def why_not(self, tool: Tool, channel: str) -> str:
        """Why a tool is not offered in a channel; empty when it is."""
        here = channel_tools(channel, self.channels)
        return why_not(tool, channel=channel, allow=self.allow, deny=self.deny, here=here)


def user_message(message: InboundMessage) -> Message:
    """The text with what was attached; pictures travel beside it."""
    said = message.text if message.task is None else instruction(message.task)
    parts = [said, *(_attached(item) for item in message.attachments if item.text)]
    media = tuple(media for item in message.attachments for media in item.media)
    return Message(role="user", content=clean("\n\n".join(parts)), media=media)


def _attached(item: Attachment) -> str:
    return f"[attached: {item.name}]\n{item.text}\n[end of {item.name}]"


def turn_input(
    message: InboundMessage,
    tools: Sequence[Tool],
    earlier: Earlier,
    texts: Mapping[LayerName, str] = NO_TEXTS,
) -> TurnInput:
    """The agent's input: what was said before goes along whole. ``texts`` are prompt layers."""
    names = [tool.name for tool in tools]
    options = message.options
    facts = PromptFacts(channel=message.address.channel, tools=names, texts=texts)
    before = message.task.context.working_memory if message.task else ()
    return TurnInput(
        system=system_prompt(facts),
        history=(*earlier.messages, *before),
        user=user_message(message),
        temperature=options.temperature,
        max_tokens=options.max_tokens,
        stop=options.stop,
        response_schema=options.response_schema,
    )
