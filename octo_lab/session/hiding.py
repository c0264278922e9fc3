"""Hides secrets in what a turn tells: the one place on the way to people."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from octo_lab.core.events import (
    ApprovalAsked,
    Noticed,
    Replied,
    Steered,
    ToolFinished,
    ToolProgressed,
    ToolQueued,
    TurnEvent,
)
from octo_lab.core.stream import ReasoningDelta, TextDelta, UsageReported
from octo_lab.security.masking import MaskedStream
from octo_lab.security.outgoing import masked_calls
from octo_lab.security.redact import Redactor

_DELTAS = (TextDelta, ReasoningDelta)
HIDDEN = "What is a key, or looks like one, was hidden here as `***`."
_FIELDS: dict[type, tuple[str, ...]] = {
    ToolFinished: ("output", "diff"),
    ApprovalAsked: ("risk",),
    Noticed: ("text",),
    Steered: ("text",),
    Replied: ("text",),
}


class Hiding:
    """Masks the events of one turn, in their order. ``hid``: something was hidden.

    What may be the beginning of a secret waits for what follows; any other event lets it out.
    """

    def __init__(self, mask: Redactor) -> None:
        self._mask = mask
        self._kind: type[TextDelta] | type[ReasoningDelta] = TextDelta
        self._said = mask.in_pieces()
        self._calls: dict[str, MaskedStream] = {}
        self._hid = False

    @property
    def hid(self) -> bool:
        return self._hid or self._said.hid

    def text(self, text: str) -> str:
        """A whole text, masked."""
        masked = self._mask(text)
        self._hid |= masked != text
        return masked

    def asked(self, text: str) -> str:
        """What a person is asked about, masked so that they see what it does."""
        masked = self._mask.to_judge(text)
        self._hid |= masked != text
        return masked

    def passes(self, event: TurnEvent) -> bool:
        """Whether it can be told as it is; then it is taken in. Nearly all that is said can."""
        return type(event) is self._kind and self._said.passes(event.text)

    def feed(self, event: TurnEvent) -> tuple[TurnEvent, ...]:
        """What can be told now, of this event and of those before it."""
        if isinstance(event, _DELTAS):
            return self._delta(event)
        if isinstance(event, UsageReported):
            return (event,)
        return (*self.end(), *self._whole(event))

    def end(self) -> tuple[TurnEvent, ...]:
        """What was held back of the text."""
        rest = self._said.end()
        return (self._kind(rest),) if rest else ()

    def _delta(self, event: TextDelta | ReasoningDelta) -> tuple[TurnEvent, ...]:
        rest: tuple[TurnEvent, ...] = ()
        if type(event) is not self._kind:
            rest = self.end()
            self._kind = type(event)
        shown = self._said.feed(event.text)
        if shown is event.text:
            return (*rest, event)
        return (*rest, self._kind(shown)) if shown else rest

    def _whole(self, event: Any) -> Iterator[TurnEvent]:
        match event:
            case ToolQueued(call):
                yield ToolQueued(masked_calls((call,), self.text)[0])
            case ToolProgressed(call_id, text):
                stream = self._calls.setdefault(call_id, self._mask.in_pieces())
                if shown := stream.feed(text):
                    yield ToolProgressed(call_id, shown)
            case _:
                yield from self._ended(event)
                names = _FIELDS.get(type(event), ())
                texts = {name: self.text(getattr(event, name)) for name in names}
                if isinstance(event, ApprovalAsked):
                    texts["detail"] = self.asked(event.detail)
                yield replace(event, **texts) if texts else event

    def _ended(self, event: Any) -> Iterator[TurnEvent]:
        stream = self._calls.pop(event.call_id, None) if isinstance(event, ToolFinished) else None
        if stream is not None:
            if rest := stream.end():
                yield ToolProgressed(event.call_id, rest)
            self._hid |= stream.hid
