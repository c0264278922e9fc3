"""What is said to a model and by it, without secrets: for whoever it is sent to or kept for."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

from octo_lab.core.messages import ChatRequest, Message, ToolCall
from octo_lab.security.redact import Redactor

Mask = Callable[[str], str]
_KEPT = 4096  # messages whose masked form is remembered


class Outgoing:
    """Masks the requests of one turn; a message that was masked once is not read again."""

    def __init__(self, mask: Redactor) -> None:
        self._mask = mask
        self._known: dict[int, tuple[Message, Message]] = {}

    def __call__(self, request: ChatRequest) -> ChatRequest:
        """The very same one when there is nothing to hide."""
        messages = [self._masked(message) for message in request.messages]
        if all(new is old for new, old in zip(messages, request.messages, strict=True)):
            return request
        return replace(request, messages=messages)

    def _masked(self, message: Message) -> Message:
        kept = self._known.get(id(message))
        if kept is None:
            if len(self._known) >= _KEPT:
                self._known.clear()
            kept = self._known[id(message)] = message, masked_message(message, self._mask)
        return kept[1]


def masked_message(message: Message, mask: Redactor) -> Message:
    """The very same one when there is nothing to hide.

    What a provider wants back verbatim cannot be masked: it is left out where it holds a known
    secret, and where the words that it belongs to are others now.
    """
    state = message.provider_state
    said = message.content, message.reasoning, message.diff
    content, reasoning, diff = hidden = tuple(map(mask, said))
    calls = masked_calls(message.tool_calls, mask)
    same = hidden == said and calls == message.tool_calls
    if same and (state is None or not mask.knows(state.blob)):
        return message
    return replace(
        message,
        content=content,
        reasoning=reasoning,
        diff=diff,
        tool_calls=calls,
        provider_state=None,
    )


def masked_calls(calls: Sequence[ToolCall], mask: Mask) -> tuple[ToolCall, ...]:
    return tuple(_masked_call(call, mask) for call in calls)


def _masked_call(call: ToolCall, mask: Mask) -> ToolCall:
    arguments = masked_json(call.arguments, mask)
    return call if arguments == call.arguments else replace(call, arguments=arguments)


def masked_json(text: str, mask: Mask) -> str:
    """JSON text that keeps its structure; any other text is masked as such."""
    masked = mask(text)
    if masked == text:
        return text
    try:
        return json.dumps(_without(json.loads(text), mask), ensure_ascii=False)
    except (ValueError, RecursionError):
        return masked


def _without(value: Any, mask: Mask, name: str = "") -> Any:
    match value:
        case dict():
            return {mask(key): _without(item, mask, key) for key, item in value.items()}
        case list():
            return [_without(item, mask, name) for item in value]
        case str():
            return _named(value, mask, name)
        case int() | float() if not isinstance(value, bool):
            shown = _named(str(value), mask, name)
            return value if shown == str(value) else shown
        case _:
            return value


def _named(text: str, mask: Mask, name: str) -> str:
    """The text, masked also for what its name says: ``{"password": "..."}``."""
    masked = mask(text)
    before = f'"{name}": "'
    whole = mask(f'{before}{masked}"')
    return whole[len(before) : -1] if whole.startswith(before) else masked
