"""Damaged histories from a seed, and what of them must survive.

Every text, call and result holds a mark (``T1.``, ``C2.``, ``R3.``), so that it can be found again
in a request of any dialect.
"""

from __future__ import annotations

import json
import random
import re
from collections.abc import Iterator, Sequence
from dataclasses import replace

from octo_lab.core.messages import Media, Message, ProviderState, Role, ToolCall
from octo_lab.llm.tool_calls import is_object

MARK = re.compile(r"[TCR]\d+\.")
IDS: tuple[str, ...] = (
    *("a", "b", "c", "call-1", "a-2", "call_1", "functions.f:0", "toolu_01AbC"),
    *("", " ", "x" * 41, "x" * 300, "é/ü id", "a\ud800", "a\ud801", "nul\0"),
)
NAMES: tuple[str, ...] = (
    "f",
    "f",
    "f",
    "read_file",
    "",
    " ",
    "fs.read.text",
    "no good name!",
    "x" * 80,
    "7",
    "工具",
)
NAMES += ("sur\ud800", "nul\0", "-")
BLANKS = ("", "", " ", "\n", "\t \u3000")
PADS = ("", "", " ", "\ud800", "\0", "<think>", "</think>", "\u2028", "\U0001f419", "\r\n", "{}")
WHOLE: tuple[str, ...] = (
    '{{"n": "{0}"}}',
    '{{"n": 2, "n": "{0}"}}',
    '{{"n": ["{0}", NaN, 1e999]}}',
)
WHOLE += (
    '{{"": {{"{0}": null}}}}',
    ' {{"n":"{0}\\ud800\\u0000"}}\n',
    '{{"a":' * 150 + '"{0}"' + "}}" * 150,
)
BROKEN = ('{{"n": "{0}', '["{0}"]', '"{0}"', "{0}", '{{"n": "{0}"}} and more', "\ud800{0}")
BLOBS: tuple[str, ...] = (
    "",
    "{}",
    "[]",
    "null",
    "no json",
    '{"content": 7}',
    '{"reasoning_content": 7}',
    '[{"type": "thinking"}]',
    "\ud800",
    "0",
)
BLOBS += ('[{"type": "thinking", "thinking": "", "signature": ""}]', '{"parts": [{}]}', "[[[]]]")
BLOBS += ('[{"type": "reasoning"}]', '{"signatures": {"a": ""}}', '[{"type":"tool_use","id":"z"}]')
MEDIA = (
    Media(mime="image/png", data=b"png", name="p.png"),
    Media(mime="image/png", data=b""),
    Media(mime="application/pdf", data=b"pdf", name="a\ud800.pdf"),
    Media(mime="", data=b"?"),
    Media(mime="audio/wav", data=b"wav"),
)
ROLES: tuple[Role, ...] = ("system", "user", "user", "assistant", "assistant", "tool", "tool")


class Damager:
    """Makes histories. ``owners`` are provider and model names that a kept state may bear."""

    def __init__(self, seed: int, owners: Sequence[tuple[str, str]] = (("lab", "m"),)) -> None:
        self._random = random.Random(seed)
        self._owners = (*owners, ("other", "m"), (owners[0][0], "other"))
        self._marks = 0

    def history(self, longest: int = 12) -> list[Message]:
        """A history: now of pure noise, now of a sound dialogue with some damage."""
        size = self._random.randint(0, longest)
        if self._random.random() < 0.4:
            return [self._noise() for _ in range(size)]
        messages = list(self._sound(size))
        for _ in range(self._random.randint(0, 3)):
            self._damage(messages)
        return messages

    def _sound(self, size: int) -> Iterator[Message]:
        while size > 0:
            yield Message(role="user", content=self._text(), media=self._media(0.1))
            calls = [self._call(WHOLE) for _ in range(self._random.choice((0, 1, 1, 2, 4)))]
            yield self._says(calls)
            yield from (self._result(call.id) for call in calls)
            size -= 2 + len(calls)

    def _damage(self, messages: list[Message]) -> None:
        """Lose, repeat, move or insert one message."""
        at = self._random.randint(0, len(messages))
        match self._random.randint(0, 3):
            case 0:
                del messages[at : at + 1]
            case 1:
                messages[at:at] = map(self._again, messages[max(0, at - 1) : at])
            case 2 if messages:
                moved = messages.pop(min(at, len(messages) - 1))
                messages.insert(self._random.randint(0, len(messages)), moved)
            case _:
                messages.insert(at, self._noise())

    def _again(self, message: Message) -> Message:
        """The same with other marks."""
        calls = (replace(c, arguments=self._remarked(c.arguments)) for c in message.tool_calls)
        content = self._remarked(message.content)
        return replace(message, content=content, tool_calls=tuple(calls))

    def _remarked(self, text: str) -> str:
        return MARK.sub(lambda found: self._mark(found[0][0]), text)

    def _noise(self) -> Message:
        role = self._random.choice(ROLES)
        calls = [self._call(WHOLE + BROKEN) for _ in range(self._random.randint(0, 2))]
        if role == "tool":
            return self._result(self._random.choice(IDS), media=self._media(0.3))
        if role == "assistant":
            return self._says(calls, media=self._media(0.1))
        return Message(
            role=role,
            content=self._text(blank=0.3),
            media=self._media(0.3),
            tool_calls=tuple(calls) if self._random.random() < 0.1 else (),
        )

    def _says(self, calls: Sequence[ToolCall], media: tuple[Media, ...] = ()) -> Message:
        owner, model = self._random.choice(self._owners)
        blob = self._random.choice(BLOBS)
        state = ProviderState(provider=owner, model=model, blob=blob)
        return Message(
            role="assistant",
            content=self._text(blank=0.5),
            reasoning=self._random.choice(("", " ", "hm", "\ud800")),
            media=media,
            tool_calls=tuple(calls),
            provider_state=state if self._random.random() < 0.5 else None,
        )

    def _result(self, id: str, media: tuple[Media, ...] = ()) -> Message:
        return Message(
            role="tool",
            content=f"{self._pad()}{self._mark('R')}{self._pad()}",
            tool_call_id=id,
            tool_name=self._random.choice(NAMES),
            outcome=self._random.choice(("ok", "ok", "error", "denied", "cancelled")),
            media=media or self._media(0.05),
        )

    def _call(self, arguments: Sequence[str]) -> ToolCall:
        text = self._random.choice(arguments).format(self._mark("C"))
        if arguments is not WHOLE and self._random.random() < 0.1:
            text = ""
        return ToolCall(
            id=self._random.choice(IDS), name=self._random.choice(NAMES), arguments=text
        )

    def _text(self, blank: float = 0.1) -> str:
        if self._random.random() < blank:
            return self._random.choice(BLANKS)
        return f"{self._pad()}{self._mark('T')}{self._pad()}"

    def _mark(self, kind: str) -> str:
        self._marks += 1
        return f"{kind}{self._marks}."

    def _pad(self) -> str:
        return self._random.choice(PADS)

    def _media(self, share: float) -> tuple[Media, ...]:
        if self._random.random() >= share:
            return ()
        return tuple(self._random.choices(MEDIA, k=self._random.randint(1, 3)))


def pairs(history: Sequence[Message]) -> list[tuple[ToolCall, Message]]:
    """Calls with their results, told by looking back from each result to the last call of its id.

    A call without a name or a mark is left out; only the assistant calls.
    """
    found: dict[tuple[int, int], Message] = {}
    for at, message in enumerate(history):
        owner = _owner(history[:at], message.tool_call_id) if message.role == "tool" else None
        if owner is None:
            continue
        calls = history[owner].tool_calls
        same = [n for n, call in enumerate(calls) if call.id == message.tool_call_id]
        free = [n for n in same if (owner, n) not in found]
        if free:
            found[owner, free[0]] = message
    kept = [(history[at].tool_calls[n], found[at, n]) for at, n in sorted(found)]
    return [
        (call, result) for call, result in kept if call.name.strip() and MARK.search(call.arguments)
    ]


def _owner(before: Sequence[Message], id: str) -> int | None:
    return next(
        (
            at
            for at in range(len(before) - 1, -1, -1)
            if before[at].role == "assistant"
            and any(call.id == id for call in before[at].tool_calls)
        ),
        None,
    )


def marks(text: str) -> list[str]:
    return MARK.findall(text)


def said(history: Sequence[Message]) -> set[str]:
    """The marks of what was said, which no repair may lose."""
    return {mark for m in history if m.role != "tool" for mark in marks(m.content)}


def unfinished(history: Sequence[Message]) -> set[str]:
    """The marks of calls that are no JSON object and have no result: they must not be sent."""
    answered = {id(call) for call, _ in pairs(history)}
    return {
        mark
        for message in history
        for call in message.tool_calls
        if id(call) not in answered and not is_object(call.arguments)
        for mark in marks(call.arguments)
    }


def conversation(body: bytes) -> str:
    """The part of a request that holds the conversation, in whatever dialect."""
    names = ("system", "instructions", "systemInstruction", "messages", "input", "contents")
    request = json.loads(body)
    return json.dumps([request[name] for name in names if name in request])
