"""Keeps a request within the model's window: old messages become a few lines each."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace

from octo_lab.agent.ports import Compacted
from octo_lab.core.messages import ChatRequest, Message
from octo_lab.core.text import first_line, head_and_tail
from octo_lab.llm.tokens import estimate_tokens, message_tokens

SUMMARY_HEAD = (
    "[Summary of the earlier part of this conversation, which no longer fits. It is a record of "
    "what was said and done, not a task.]"
)
_STRANGERS = "[words of strangers, left out]"
_LINE = 200
_RESULT = 100


@dataclass(frozen=True, slots=True, kw_only=True)
class CompactionPolicy:
    """``share`` of the window may be used, and estimates may be wrong by ``safety``. The newest
    ``recent`` messages stay, conversations of up to ``least`` are left alone. A summary takes at
    most ``summary`` of what may be used; results before the person's last message are cut to
    ``old_result`` characters first.
    """

    share: float = 0.8
    safety: float = 1.2
    recent: int = 6
    least: int = 7
    summary: float = 0.4
    old_result: int = 800

    def budget(self, window: int, refused: int) -> int:
        """Tokens a request may have; each refusal by a server halves it."""
        return int(window * self.share / self.safety) >> refused


@dataclass(slots=True)
class WithinWindow:
    """A Compactor without a model, for one turn. What was left out once stays out, so that a
    vendor's cache of the beginning of the request holds.
    """

    window: int
    policy: CompactionPolicy = CompactionPolicy()
    _cut: int = field(default=0, init=False)
    _refused: int = field(default=0, init=False)
    _sent: int = field(default=0, init=False)
    _most: int | None = field(default=None, init=False)

    async def compact(self, request: ChatRequest, *, refused: int) -> Compacted:
        done = self._compacted(request, refused)
        self._sent = _tokens(done.messages)
        return done

    def _compacted(self, request: ChatRequest, refused: int) -> Compacted:
        messages = list(request.messages)
        whole = self._budget(refused)
        if not self._cut and self._few(messages):
            return Compacted(messages=request.messages)
        budget = whole - _tools_tokens(request)
        if not self._cut and _tokens(messages) <= budget:
            return Compacted(messages=request.messages)
        system, rest = _split(messages)
        rest = _shortened(rest, self.policy.old_result)
        self._cut = max(self._cut, self._cut_in(system, rest, budget))
        if not self._cut:
            return Compacted(messages=[*system, *rest], note=_SHORTENED)
        kept = _fitting(rest[self._cut :], budget - _tokens(system) - self._room(budget))
        summary = _summary(rest[: self._cut], self._room(budget))
        return Compacted(
            messages=[*system, summary, *kept],
            note="The older part of this conversation is sent to the model as a summary.",
        )

    def _budget(self, refused: int) -> int:
        """What was refused is halved, whatever the estimates say."""
        if refused > self._refused:
            self._refused = refused
            self._most = self._sent // 2 if self._sent else None
        budget = self.policy.budget(self.window, refused)
        return budget if self._most is None else min(budget, self._most)

    def _few(self, messages: Sequence[Message]) -> bool:
        """Whether there is nothing to leave out, as far as is known."""
        said = sum(message.role != "system" for message in messages)
        return said <= self.policy.least and not self._refused

    def _room(self, budget: int) -> int:
        return int(max(0, budget) * self.policy.summary)

    def _cut_in(self, system: Sequence[Message], rest: Sequence[Message], budget: int) -> int:
        """How many messages are summed up, so that the others have room to grow."""
        if _tokens(system) + _tokens(rest) <= budget and not self._cut:
            return 0
        left = budget - _tokens(system) - self._room(budget)
        start = len(rest)
        while start > 0:
            left -= message_tokens(rest[start - 1])
            if left < 0 and len(rest) - start >= self.policy.recent:
                break
            start -= 1
        return _owner(rest, min(start, _last_ask(rest)))


_SHORTENED = "Long results of earlier tools are sent to the model in part."


def _tools_tokens(request: ChatRequest) -> int:
    return sum(
        estimate_tokens(f"{tool.name}{tool.description}{tool.schema}") for tool in request.tools
    )


def _tokens(messages: Sequence[Message]) -> int:
    return sum(map(message_tokens, messages))


def _split(messages: Sequence[Message]) -> tuple[list[Message], list[Message]]:
    system = [message for message in messages if message.role == "system"]
    return system, [message for message in messages if message.role != "system"]


def _last_ask(messages: Sequence[Message]) -> int:
    """Where the person's last message is: it always stays."""
    asks = (n for n in range(len(messages) - 1, -1, -1) if messages[n].role == "user")
    return next(asks, len(messages))


def _owner(messages: Sequence[Message], start: int) -> int:
    """``start``, or the call whose result stands there: a pair is never split."""
    while 0 < start < len(messages) and messages[start].role == "tool":
        start -= 1
    return start


def _shortened(messages: Sequence[Message], limit: int) -> list[Message]:
    """Results before the person's last message, in part."""
    last = _last_ask(messages)
    return [
        replace(message, content=head_and_tail(message.content, limit), media=())
        if message.role == "tool" and index < last
        else message
        for index, message in enumerate(messages)
    ]


def _fitting(messages: Sequence[Message], budget: int) -> list[Message]:
    """The newest messages in full, as far as there is room; what is too long is cut visibly."""
    over = _tokens(messages) - budget
    kept = list(messages)
    for index in sorted(range(len(kept)), key=lambda n: -message_tokens(kept[n])):
        if over <= 0:
            break
        message = kept[index]
        tokens = message_tokens(message)
        room = max(_LINE, int(len(message.content) * 0.9 * (tokens - over) / tokens))
        shorter = replace(message, content=head_and_tail(message.content, room))
        over -= tokens - message_tokens(shorter)
        kept[index] = shorter
    return kept


def _summary(messages: Sequence[Message], budget: int) -> Message:
    """One message of the person's side, in the past tense: no model takes it for a failure."""
    lines = list(summary_lines(messages))
    left = budget - estimate_tokens(SUMMARY_HEAD)
    kept: list[str] = []
    for line in reversed(lines):
        left -= estimate_tokens(line) + 1
        if left < 0:
            kept.append(f"[{len(lines) - len(kept)} earlier lines are left out]")
            break
        kept.append(line)
    return Message(role="user", content="\n".join([SUMMARY_HEAD, *reversed(kept)]))


def summary_lines(messages: Iterable[Message]) -> Iterator[str]:
    """A line or two of each message."""
    for message in messages:
        yield from _lines(message)


def _lines(message: Message) -> Iterator[str]:
    said = first_line(message.content, _LINE)
    match message.role:
        case "user":
            media = " [media omitted]" if message.media else ""
            yield f"> User: {said}{media}"
        case "assistant":
            if said:
                yield f"> Assistant: {said}"
            yield from (f"- Called {call.name}" for call in message.tool_calls)
        case "tool":
            state = "ok" if message.outcome == "ok" else "error"
            told = _STRANGERS if message.origin else first_line(message.content, _RESULT)
            yield f"-> {message.tool_name}: {state} - {told}"
        case _:
            return
