"""A repaired copy of a history: what every model server accepts, whatever was stored.

Each step is a function from messages to messages; the stored rows are never edited.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence
from dataclasses import replace

from octo_lab.core.messages import Message, ToolCall
from octo_lab.core.text import clean
from octo_lab.llm.tool_calls import is_object

EMPTY = "[empty message]"
OMITTED = "[earlier messages are omitted]"
NO_RESULT = "[no result: the call was interrupted]"
LONGEST_ID = 40  # OpenAI refuses longer ones, which other servers give


def repair(history: Sequence[Message]) -> list[Message]:
    """System first (one message), then user first, each call answered once right behind it,
    no blank message, no two neighbours of the user or of the assistant alike, no id used by two
    calls. Keeps every complete pair of call and result. Repairing twice changes nothing.
    """
    system, rest = _split_system(history)
    rest = _merge(_without_blanks(_pair(rest)))
    if not rest:
        rest = [Message(role="user", content=EMPTY)]
    if rest[0].role != "user":
        rest.insert(0, Message(role="user", content=OMITTED))
    return [*system, *rest]


def _split_system(history: Sequence[Message]) -> tuple[list[Message], list[Message]]:
    """Many chat templates take a system message only at the very start."""
    texts = [m.content for m in history if m.role == "system" and m.content.strip()]
    rest = [m for m in history if m.role != "system"]
    return ([Message(role="system", content="\n\n".join(texts))] if texts else []), rest


def _pair(messages: Iterable[Message]) -> list[Message]:
    """Put each result behind its call; drop results of no call and calls never finished."""
    slots: list[_Slot] = []
    waiting: dict[str, list[tuple[_Slot, int]]] = {}
    for message in messages:
        if message.role == "tool":
            places = waiting.get(message.tool_call_id)
            if places:
                slot, index = places.pop(0)
                slot.results[index] = message
            continue
        slot = _Slot(message if message.role == "assistant" else replace(message, tool_calls=()))
        slots.append(slot)
        calls = slot.message.tool_calls
        for id in {call.id for call in calls}:
            waiting[id] = [(slot, n) for n, c in enumerate(calls) if c.id == id]
    ids = _Ids()
    return [message for slot in slots for message in slot.messages(ids)]


class _Slot:
    """A message and the results of its calls."""

    def __init__(self, message: Message) -> None:
        self.message = message
        self.results: dict[int, Message] = {}

    def messages(self, ids: _Ids) -> list[Message]:
        if not self.message.tool_calls:
            return [self.message]
        calls: list[ToolCall] = []
        results: list[Message] = []
        for index, call in enumerate(self.message.tool_calls):
            result = self.results.get(index)
            if not call.name.strip() or (result is None and not is_object(call.arguments)):
                continue
            fresh = replace(call, id=ids.unique(call.id))
            calls.append(fresh)
            results.append(_result(fresh, result))
        return [replace(self.message, tool_calls=tuple(calls)), *results]


class _Ids:
    """Gives out each id once: servers count those of the whole history."""

    def __init__(self) -> None:
        self._taken: set[str] = set()
        self._counts: dict[str, int] = {}

    def unique(self, id: str) -> str:
        """``id``, or a like one when it is blank, too long or taken."""
        base = _short(clean(id)) if id.strip() else "call"
        chosen = base if id.strip() else "call-1"
        while chosen in self._taken:
            self._counts[base] = self._counts.get(base, 1) + 1
            chosen = _short(f"{base}-{self._counts[base]}")
        self._taken.add(chosen)
        return chosen


def _short(id: str) -> str:
    if len(id) <= LONGEST_ID:
        return id
    mark = hashlib.sha256(id.encode()).hexdigest()[:8]
    return f"{id[: LONGEST_ID - len(mark) - 1]}-{mark}"


def _result(call: ToolCall, result: Message | None) -> Message:
    if result is None:
        result = Message(role="tool", content=NO_RESULT, outcome="cancelled")
    return replace(result, tool_call_id=call.id, tool_name=call.name, tool_calls=())


def _without_blanks(messages: Iterable[Message]) -> list[Message]:
    kept: list[Message] = []
    for message in messages:
        blank = not message.content.strip()
        if message.role == "user" and blank:
            kept.append(message if message.media else replace(message, content=EMPTY))
        elif message.role == "assistant" and blank and not message.tool_calls:
            continue
        else:
            kept.append(message)
    return kept


def _merge(messages: Iterable[Message]) -> list[Message]:
    """Join neighbours of one speaker: a turn that failed leaves two user messages in a row."""
    merged: list[Message] = []
    for message in messages:
        last = merged[-1] if merged else None
        if last is None or last.role != message.role or last.tool_calls or message.role == "tool":
            merged.append(message)
        else:
            merged[-1] = _joined(last, message)
    return merged


def _joined(first: Message, second: Message) -> Message:
    texts = (first.content, second.content)
    return replace(
        second,
        content="\n\n".join(text for text in texts if text.strip()),
        reasoning="\n\n".join(r for r in (first.reasoning, second.reasoning) if r),
        media=first.media + second.media,
        provider_state=None,
    )
