"""The messages of one turn: whole at every moment, whatever interrupts it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Literal

from octo_lab.core.messages import Message, ProviderState, ToolCall, Usage
from octo_lab.core.stream import StopReason
from octo_lab.core.text import clean
from octo_lab.tools.arguments import storable

CloseReason = Literal["cancelled", "failed", "seconds", "idle"]

_BECAUSE: dict[CloseReason, str] = {
    "cancelled": "the person stopped the turn",
    "failed": "the turn failed",
    "seconds": "the turn ran out of time",
    "idle": "nothing happened for too long",
}


@dataclass(slots=True)
class Reply:
    """One answer while it arrives.

    ``made`` are the calls as the model wrote them; ``ran_away``: it was ended because it said the
    same again and again.
    """

    text: list[str] = field(default_factory=list)
    reasoning: list[str] = field(default_factory=list)
    made: list[ToolCall] = field(default_factory=list)
    state: ProviderState | None = None
    reason: StopReason | None = None
    ran_away: bool = False

    @property
    def whole_text(self) -> str:
        return clean("".join(self.text))

    @property
    def blank(self) -> bool:
        """Nothing a reader could see, and no call."""
        return not self.made and not any(part.strip() for part in self.text)

    def message(self) -> Message:
        return Message(
            role="assistant",
            content=self.whole_text,
            reasoning=clean("".join(self.reasoning)),
            tool_calls=tuple(storable(call) for call in self.made),
            provider_state=self.state,
        )


class Transcript:
    """What was said in one turn after the user's message.

    ``messages`` holds whole steps only: an assistant message directly followed by one result for
    each of its calls. The reply being received, and results that came in, wait beside it until
    ``complete`` or ``close``. ``usage`` is what the turn has cost so far.
    """

    def __init__(self) -> None:
        self.messages: list[Message] = []
        self.usage = Usage()
        self._stored = 0
        self._reply = Reply()
        self._started: set[str] = set()
        self._results: dict[str, Message] = {}
        self._ids: set[str] = set()

    @property
    def partial(self) -> str:
        """The visible text of the reply being received."""
        return self._reply.whole_text

    @property
    def reply(self) -> Reply:
        """The open reply."""
        return self._reply

    @property
    def unstored(self) -> tuple[Message, ...]:
        """Whole messages that ``stored`` has not been told of."""
        return tuple(self.messages[self._stored :])

    @property
    def unanswered(self) -> tuple[ToolCall, ...]:
        """Calls of the open reply that have no result yet."""
        return tuple(call for call in self._reply.made if call.id not in self._results)

    def open(self) -> Reply:
        """Begin to receive a reply; one that was not completed is dropped."""
        self._reply = Reply()
        self._started.clear()
        self._results.clear()
        return self._reply

    def add_call(self, call: ToolCall) -> ToolCall:
        """Take a call of the open reply; gives it an id of its own when it has none."""
        call = ToolCall(
            id=self._own_id(clean(call.id)), name=clean(call.name), arguments=clean(call.arguments)
        )
        self._reply.made.append(call)
        return call

    def start(self, call_id: str) -> None:
        """Remember that the call ran, so that a broken-off one is reported as such."""
        self._started.add(call_id)

    def answer(self, result: Message) -> None:
        """Take the result of one call; a second one for the same call is ignored."""
        self._results.setdefault(result.tool_call_id, result)

    def complete(self) -> tuple[Message, ...]:
        """Move the open reply and its results into ``messages``; returns what is unstored."""
        return self._settle("failed")

    def say(self, message: Message) -> None:
        """What the person said after the last whole step; the model reads it next."""
        self.messages.append(message)

    def stored(self) -> None:
        """Everything in ``messages`` is durable now."""
        self._stored = len(self.messages)

    def close(self, reason: CloseReason) -> tuple[Message, ...]:
        """End the turn as it stands; returns the messages that are still to be stored.

        Text that had arrived becomes an assistant message; each call without a result gets one
        that says why. Calling it again returns the same.
        """
        return self._settle(reason)

    def missing(self, call: ToolCall, reason: CloseReason) -> Message:
        """The result that ``close`` gives a call that has none of its own."""
        broken = call.id in self._started
        what = "Broken off, effects are unknown" if broken else "Not run"
        return Message(
            role="tool",
            content=f"Error: {what}: {_BECAUSE[reason]}.",
            tool_call_id=call.id,
            tool_name=call.name,
            outcome="cancelled",
        )

    def _settle(self, reason: CloseReason) -> tuple[Message, ...]:
        reply = self._reply
        if not reply.blank:
            self.messages += [reply.message(), *self._all_results(reason)]
        self.open()
        return self.unstored

    def _all_results(self, reason: CloseReason) -> Iterator[Message]:
        for call in self._reply.made:
            yield self._results.get(call.id) or self.missing(call, reason)

    def _own_id(self, wanted: str) -> str:
        call_id, number = wanted, len(self._ids)
        while not call_id or call_id in self._ids:
            number += 1
            call_id = f"call_{number}"
        self._ids.add(call_id)
        return call_id
