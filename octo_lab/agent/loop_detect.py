"""Notices a model that goes round in circles: the same calls or the same words, over and over."""

from __future__ import annotations

import hashlib
import json
from collections import deque
from collections.abc import Hashable, Iterable
from dataclasses import dataclass, field

from octo_lab.core.messages import Message, ToolCall

_ECHO = 80  # shorter remarks between calls may well be the same
_PATTERNS = (20, 40, 60, 100)
_LOOKED_AT = 500
_SHORTEST = 200
_TIMES = 4
_RUNAWAY = 4  # so many looks in a row must see it before a stream is ended


@dataclass(frozen=True, slots=True, kw_only=True)
class CyclePolicy:
    """A cycle of up to ``longest`` steps, ``repeats`` times, among at least ``least`` steps."""

    window: int = 12
    longest: int = 3
    repeats: int = 3
    least: int = 4


class Cycles:
    """Sees whether the newest of a series of steps only repeat the ones before."""

    def __init__(self, policy: CyclePolicy = CyclePolicy()) -> None:
        self._policy = policy
        self._steps: deque[Hashable] = deque(maxlen=policy.window)

    def feed(self, step: Hashable) -> int:
        """Take in one step; the length of the cycle it ends, 0 when there is none."""
        self._steps.append(step)
        steps = list(self._steps)
        if len(steps) < self._policy.least:
            return 0
        lengths = range(1, self._policy.longest + 1)
        return next((length for length in lengths if self._repeats(steps, length)), 0)

    def clear(self) -> None:
        """Begin anew: what was seen has been told."""
        self._steps.clear()

    def _repeats(self, steps: list[Hashable], length: int) -> bool:
        size = length * self._policy.repeats
        tail = steps[-size:]
        return len(tail) == size and tail == tail[:length] * self._policy.repeats


def signature(call: ToolCall) -> str:
    """The same for calls that ask the same: the name, and a hash of the arguments as JSON."""
    try:
        arguments = json.dumps(json.loads(call.arguments or "{}"), sort_keys=True)
    except (ValueError, RecursionError):
        arguments = call.arguments
    digest = hashlib.blake2b(arguments.encode("utf-8", "surrogatepass"), digest_size=12)
    return f"{call.name} {digest.hexdigest()}"


def repeats_itself(text: str) -> bool:
    """Whether the end of a text says the same again and again."""
    if len(text) < _SHORTEST:
        return False
    end = text[-_LOOKED_AT:]
    return any(end.count(end[-size:]) >= _TIMES for size in _PATTERNS)


def is_periodic(text: str) -> bool:
    """Whether a text is nothing but one piece of at most a quarter of it, again and again."""
    sample = text[-_PATTERNS[-1] :]
    period = len(text) - len(sample) - text.rfind(sample, 0, -1)
    return period <= len(text) // _TIMES and text[period:] == text[:-period]


class Runaway:
    """Notices a text that only repeats itself while it comes; looks at each part of it once.

    Stricter than ``repeats_itself``: the rows of a table may well end alike.
    """

    def __init__(self) -> None:
        self._end = ""
        self._new: list[str] = []
        self._size = 0
        self._seen = 0

    def feed(self, text: str) -> bool:
        """True once the text has only repeated itself for about 2000 characters."""
        self._new.append(text)
        self._size += len(text)
        if self._size < _LOOKED_AT:
            return False
        self._end = (self._end + "".join(self._new))[-_LOOKED_AT:]
        self._new.clear()
        self._size = 0
        self._seen = self._seen + 1 if is_periodic(self._end) else 0
        return self._seen >= _RUNAWAY


@dataclass(slots=True)
class LoopWatch:
    """Watches the steps of one turn. ``stuck``: it was told once and goes on all the same."""

    stuck: bool = False
    _told: bool = False
    _calls: Cycles = field(default_factory=Cycles)
    _same: Cycles = field(default_factory=Cycles)
    _texts: Cycles = field(default_factory=Cycles)

    def step(self, step: Iterable[Message]) -> str:
        """Take in a reply with the results of its calls; what to tell the model, or ''."""
        said, *results = step
        outputs = {result.tool_call_id: result.content for result in results}
        found = ""
        for call in said.tool_calls:
            asked = signature(call)
            length = self._calls.feed(asked)
            same = self._same.feed((asked, hash(outputs.get(call.id))))
            if length:
                found = _told_calls(length)
                self.stuck = self.stuck or (self._told and bool(same))
        if len(said.content) >= _ECHO and self._texts.feed(said.content):
            found = found or _ECHOED
            self.stuck = self.stuck or self._told
        elif repeats_itself(said.content):
            found = found or _ECHOED
        if found:
            self._tell()
        return found

    def runaway(self) -> str:
        """A reply was ended because it repeated itself; what to tell the model."""
        self.stuck = self.stuck or self._told
        self._tell()
        return _RAN_AWAY

    def _tell(self) -> None:
        self._told = True
        for cycles in (self._calls, self._same, self._texts):
            cycles.clear()


_ECHOED = (
    "You have said the same several times now. Do not say it again: do something else, or say "
    "what you need and end your answer."
)
_RAN_AWAY = (
    "Your answer repeated the same words again and again and was ended. Answer once more, "
    "briefly, and say nothing twice."
)


def _told_calls(length: int) -> str:
    what = "the same call" if length == 1 else f"the same {length} calls in turn"
    return (
        f"You have made {what} three times, with the same arguments. It will not give anything "
        "new: try something else, or say what you found and what you need."
    )
