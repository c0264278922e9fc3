"""Gets one whole answer of the model, whatever it takes: shorter input, more rounds, patience."""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, fields, replace

import anyio

from octo_lab.agent.inline_calls import HoldAll, TailGate, recover_calls
from octo_lab.agent.joint import GO_ON, Joint
from octo_lab.agent.limits import Limits
from octo_lab.agent.model_call import ModelCall
from octo_lab.agent.patience import Patience, Silence
from octo_lab.agent.ports import Compactor, Hooks
from octo_lab.agent.receive import Gate, Hearing, receive
from octo_lab.agent.transcript import Reply, Transcript
from octo_lab.core.errors import ContentFiltered, ContextOverflow, ProviderError
from octo_lab.core.events import Emit, Noticed, ToolQueued
from octo_lab.core.messages import ChatRequest, Message, Usage
from octo_lab.core.stream import TextDelta
from octo_lab.llm.provider import Provider
from octo_lab.llm.tokens import message_tokens
from octo_lab.tools.arguments import storable

logger = logging.getLogger(__name__)


@dataclass(slots=True, kw_only=True)
class Asking:
    """Asks the model of one turn; the answer is the transcript's open reply afterwards."""

    provider: Provider
    compactor: Compactor
    hooks: Hooks
    limits: Limits
    patience: Patience
    transcript: Transcript
    emit: Emit
    alive: Callable[[], None]
    _iteration: int = 0
    _refused: int = 0
    _told: set[str] = field(default_factory=set)
    _filtered: ContentFiltered | None = None
    _gate: Gate = field(default_factory=TailGate)

    async def ask(self, request: ChatRequest, iteration: int) -> Reply:
        """The answer to ``request``; raises ProviderErrors, and Rejected when a hook says no.

        An empty answer, or one that a filter held back, is asked for again, the last time in one
        piece; one that was cut is continued, calls that were written as text are made calls. With
        a response schema the text is not shown: see ``show``.
        """
        self._iteration = iteration
        reply = await self._try(request)
        for wait in self.limits.empty_waits:
            if not _is_empty(reply):
                return reply
            await anyio.sleep(wait)
            reply = await self._try(request)
        if _is_empty(reply) and self.limits.empty_waits:
            reply = await self._try_whole(request)
        if self._filtered is not None:
            raise self._filtered
        return reply

    async def _try(self, request: ChatRequest) -> Reply:
        """One answer; what a filter held back before a word of it was shown is an empty one."""
        self._gate = TailGate() if request.response_schema is None else HoldAll()
        self._filtered = None
        try:
            return await self._answer(request)
        except ContentFiltered as exc:
            if not self.transcript.reply.blank:
                raise
            self._filtered = exc
            return self.transcript.reply

    async def _try_whole(self, request: ChatRequest) -> Reply:
        """One last time without a stream, which some servers break; failing is as being empty."""
        filtered = self._filtered
        try:
            return await self._try(replace(request, streamed=False))
        except ProviderError as exc:
            if not self.transcript.reply.blank:
                raise
            logger.info("%s gave no whole answer either: %s", self.provider.name, exc)
            self._filtered = filtered
            return self.transcript.open()

    def show(self) -> None:
        """Show what of the answer was held back."""
        if held := self._gate.end():
            self.emit(TextDelta(held))

    async def _answer(self, request: ChatRequest) -> Reply:
        self.transcript.open()
        reply = await self._fitting(request)
        for _ in range(self.limits.continuations):
            if not _was_cut(reply, request) or not await self._continued(request, reply):
                break
        self._recover(request, reply)
        if reply.made or request.response_schema is None:
            self.show()
        return reply

    async def _fitting(self, request: ChatRequest) -> Reply:
        """Ask; with less when a server says that it is too much."""
        sent = await self._compacted(request)
        try:
            return await self._stream(sent)
        except ContextOverflow:
            if not self.transcript.reply.blank:
                raise
            self._refused += 1
            less = await self._compacted(request)
            if list(less.messages) == list(sent.messages):
                raise
        self.transcript.open()
        return await self._stream(less)

    async def _compacted(self, request: ChatRequest) -> ChatRequest:
        compacted = await self.compactor.compact(request, refused=self._refused)
        if compacted.note and compacted.note not in self._told:
            self._told.add(compacted.note)
            self.emit(Noticed(compacted.note))
        return replace(request, messages=compacted.messages)

    async def _continued(self, request: ChatRequest, reply: Reply) -> bool:
        """Add the next part of a cut answer; False when there is none to get."""
        before = reply.whole_text
        reply.state = None  # it would stand for the first part alone
        so_far = (Message(role="assistant", content=before), Message(role="user", content=GO_ON))
        longer = replace(request, messages=[*request.messages, *so_far])
        try:
            await self._stream(await self._compacted(longer), Joint(before))
        except ProviderError as exc:
            self.emit(Noticed(f"The rest of the answer did not come: {exc}"))
            reply.reason = "max_tokens"
            return False
        finally:
            reply.state = None
        return len(reply.whole_text) > len(before) or bool(reply.made)

    async def _stream(self, request: ChatRequest, joint: Joint | None = None) -> Reply:
        provider, before = self.provider, self.transcript.usage
        call = ModelCall(provider=provider, hooks=self.hooks, iteration=self._iteration)
        stream = await call.begin(request)
        hearing = Hearing(
            name=provider.name,
            emit=self.emit,
            gate=self._gate,
            silence=Silence(self.patience, _size(request.messages)),
            alive=self.alive,
            joint=joint,
        )
        self.transcript.reply.reason = None
        if not request.streamed:
            hearing.silence.told_to_wait()
        reply = await receive(stream, self.transcript, hearing)
        await call.ended(
            reason="tool_use" if reply.made else reply.reason,
            calls=len(reply.made),
            usage=_spent(before, self.transcript.usage),
            total=self.transcript.usage,
        )
        return reply

    def _recover(self, request: ChatRequest, reply: Reply) -> None:
        """Make calls of those a model wrote at the end of its text."""
        if reply.made or reply.ran_away or reply.reason == "max_tokens":
            return
        tools = {spec.name: spec for spec in request.tools}
        found = recover_calls(reply.whole_text, tools)
        if found is None:
            return
        self._gate.end()
        reply.text[:] = [found.text]
        reply.state = None
        for call in found.calls:
            self.emit(ToolQueued(storable(self.transcript.add_call(call))))


def _is_empty(reply: Reply) -> bool:
    """Whether nothing came, though there was room for it."""
    return reply.blank and reply.reason != "max_tokens"


def _was_cut(reply: Reply, request: ChatRequest) -> bool:
    """Whether an answer was cut by the model's own limit, outside a call, and says something."""
    by_limit = reply.reason == "max_tokens" and request.max_tokens is None
    return by_limit and not reply.made and not reply.blank and not reply.ran_away


def _size(messages: Sequence[Message]) -> int:
    """The tokens of a request, about."""
    return sum(message_tokens(message) for message in messages)


def _spent(before: Usage, after: Usage) -> Usage:
    names = [each.name for each in fields(Usage)]
    return Usage(**{name: getattr(after, name) - getattr(before, name) for name in names})
