"""A layer that answers what was asked before, word for word, from memory."""

from __future__ import annotations

import hashlib
import json
from collections import OrderedDict
from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

from octo_lab.core.stream import StreamEvent
from octo_lab.llm.answer import Answer
from octo_lab.llm.metering.middleware import Asked

ENTRIES = 256
LONGEST = 200_000  # characters of an answer worth keeping
_WHOLE = ("end_turn", "stop_sequence")


class Caching:
    """Keeps whole answers that call no tool, the most recently used ``entries`` of them.

    Only requests of temperature 0 are cached: their answers are meant to be the same each time;
    ``always`` caches any. An answer from here took no request, no token and no money.
    """

    def __init__(self, *, entries: int = ENTRIES, always: bool = False) -> None:
        self._entries = entries
        self._always = always
        self._answers: OrderedDict[bytes, Answer] = OrderedDict()

    def __len__(self) -> int:
        return len(self._answers)

    def before(self, asked: Asked) -> Answer | None:
        if not self._fits(asked):
            return None
        key = _key(asked)
        answer = self._answers.get(key)
        if answer is not None:
            self._answers.move_to_end(key)
        return answer

    def event(self, asked: Asked, event: StreamEvent) -> StreamEvent:
        return event

    def after(self, asked: Asked, answer: Answer) -> None:
        if self._fits(asked) and _worth_keeping(answer):
            key = _key(asked)
            self._answers[key] = answer
            self._answers.move_to_end(key)
            if len(self._answers) > self._entries:
                self._answers.popitem(last=False)

    def on_error(self, asked: Asked, error: BaseException) -> None:
        """What is not whole is not kept."""

    def _fits(self, asked: Asked) -> bool:
        return self._always or asked.request.temperature == 0


def _worth_keeping(answer: Answer) -> bool:
    message = answer.message
    size = len(message.content) + len(message.reasoning)
    said = bool(message.content) and not message.tool_calls
    return said and answer.reason in _WHOLE and size <= LONGEST


def _key(asked: Asked) -> bytes:
    """A digest of the whole request and whom it goes to."""
    whole = [asked.provider, asked.model, asdict(asked.request)]
    text = json.dumps(whole, sort_keys=True, default=_plain)
    return hashlib.sha256(text.encode()).digest()


def _plain(value: object) -> Any:
    match value:
        case bytes():
            return hashlib.sha256(value).hexdigest()
        case Mapping():
            return dict(value)
    raise TypeError(f"{type(value).__name__} cannot be part of a request")
