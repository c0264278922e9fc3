"""What is said to a model and by it, without secrets: for whoever it is sent to or kept for."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any, TypeVar

from octo_lab.core.messages import ChatRequest, Message, ToolCall, ToolSpec
from octo_lab.security.redact import Redactor

Mask = Callable[[str], str]
T = TypeVar("T")
_KEPT = 4096  # messages and tools whose masked form is remembered


class Outgoing:
    """Masks the requests of one turn; what was masked once is not read again."""

    def __init__(self, mask: Redactor) -> None:
        self._mask = mask
        self._known: dict[int, tuple[Any, Any]] = {}

    def __call__(self, request: ChatRequest) -> ChatRequest:
        """The very same one when there is nothing to hide."""
        messages = [self._once(message, masked_message) for message in request.messages]
        tools = [self._once(tool, masked_tool) for tool in request.tools]
        schema = request.response_schema and self._once(request.response_schema, masked_schema)
        old = (*request.messages, *request.tools, request.response_schema)
        if all(new is was for new, was in zip((*messages, *tools, schema), old, strict=True)):
            return request
        return replace(request, messages=messages, tools=tools, response_schema=schema)

    def _once(self, given: T, masked: Callable[[T, Redactor], T]) -> T:
        kept = self._known.get(id(given))
        if kept is None:
            if len(self._known) >= _KEPT:
                self._known.clear()
            kept = self._known[id(given)] = given, masked(given, self._mask)
        found: T = kept[1]
        return found


def masked_tool(tool: ToolSpec, mask: Mask) -> ToolSpec:
    """A function of the person's may hold a secret: as a default, in its docstring."""
    description, schema = mask(tool.description), masked_schema(tool.schema, mask)
    if description == tool.description and schema is tool.schema:
        return tool
    return replace(tool, description=description, schema=schema)


def masked_schema(schema: Mapping[str, Any], mask: Mask) -> Mapping[str, Any]:
    """The very same one when there is nothing to hide."""
    text = json.dumps(schema, ensure_ascii=False)
    masked = masked_json(text, mask)
    if masked == text:
        return schema
    found: Mapping[str, Any] = json.loads(masked)
    return found


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
