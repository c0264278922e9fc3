"""Writes an OpenAI chat-completions request: a pure function from request to JSON."""

from __future__ import annotations

import base64
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from pydantic_core import to_json

from octo_lab.core.messages import ChatRequest, Media, Message, ToolCall, ToolSpec
from octo_lab.core.text import clean
from octo_lab.llm.hints import ModelHints
from octo_lab.llm.repair import repair
from octo_lab.llm.tool_calls import is_object

Json = dict[str, Any]
PICTURES = frozenset({"image/png", "image/jpeg", "image/gif", "image/webp"})
_NOT_IN_NAMES = re.compile(r"[^a-zA-Z0-9_-]")
_MAX_STOP = 4


def request_bytes(request: ChatRequest, model: str, hints: ModelHints) -> bytes:
    """The body as it is sent; lone surrogates become U+FFFD, for no server reads them."""
    body = chat_request(request, model, hints)
    try:
        return to_json(body)  # several times as fast as the standard library
    except ValueError:
        return clean(json.dumps(body, ensure_ascii=False)).encode()


def chat_request(request: ChatRequest, model: str, hints: ModelHints) -> Json:
    """The body as JSON: a repaired copy of the transcript, and only fields that mean something."""
    messages = repair(request.messages)
    body: Json = {
        "model": model,
        "messages": [item for message in _moved(messages, hints) for item in _message(message)],
        "stream": True,
        "stream_options": {"include_usage": True},
    }
    if request.tools:
        body["tools"] = [_tool(tool) for tool in request.tools]
        if request.tool_choice != "auto":
            body["tool_choice"] = request.tool_choice
    body.update(_choices(request, hints))
    return body


def _choices(request: ChatRequest, hints: ModelHints) -> Iterator[tuple[str, Any]]:
    if request.max_tokens:
        name = "max_completion_tokens" if hints.completion_tokens else "max_tokens"
        yield name, request.max_tokens
    if request.temperature is not None and not hints.fixed_temperature:
        yield "temperature", request.temperature
    stop = [word for word in request.stop if word][:_MAX_STOP]
    if stop:
        yield "stop", stop
    if request.response_schema is not None:
        yield (
            "response_format",
            {
                "type": "json_schema",
                "json_schema": {
                    "name": "answer",
                    "schema": dict(request.response_schema),
                    "strict": is_strict(request.response_schema),
                },
            },
        )


def is_strict(schema: object) -> bool:
    """Whether a schema may be enforced to the letter: the vendor refuses any looser one then."""
    if isinstance(schema, Mapping):
        fields = schema.get("properties")
        if schema.get("type") == "object" or isinstance(fields, Mapping):
            named = set(fields) if isinstance(fields, Mapping) else set()
            required = set(schema.get("required") or ())
            if schema.get("additionalProperties") is not False or required != named:
                return False
        return all(map(is_strict, schema.values()))
    return not isinstance(schema, list) or all(map(is_strict, schema))


def _tool(tool: ToolSpec) -> Json:
    function = {
        "name": tool_name(tool.name),
        "description": tool.description,
        "parameters": dict(tool.schema),
    }
    return {"type": "function", "function": function}


def tool_name(name: str) -> str:
    """A name as the dialect allows it."""
    return _NOT_IN_NAMES.sub("_", name)[:64]


def _moved(messages: Sequence[Message], hints: ModelHints) -> Iterator[Message]:
    """Pictures of tool results follow their block as a user message: a result is only text."""
    pictures: list[Media] = []
    for message in messages:
        if message.role != "tool" and pictures:
            yield _shown(pictures)
            pictures = []
        if message.role == "tool":
            seen = [m for m in message.media if _is_picture(m, hints)]
            pictures += seen
            yield _with_mentions(message, seen)
        else:
            kept = [m for m in message.media if message.role == "user" and _is_picture(m, hints)]
            yield _with_mentions(message, kept)
    if pictures:
        yield _shown(pictures)


def _is_picture(media: Media, hints: ModelHints) -> bool:
    """Whether it can be sent: a stored file may be gone, then its data are empty."""
    return bool(media.data) and media.mime in PICTURES and hints.vision


def _shown(pictures: Sequence[Media]) -> Message:
    text = "The pictures that the tools returned:"
    return Message(role="user", content=text, media=tuple(pictures))


def _with_mentions(message: Message, kept: Sequence[Media]) -> Message:
    """Media that cannot be sent are mentioned by name."""
    left_out = [m for m in message.media if m not in kept]
    if not left_out:
        return message
    mentions = [f"[{media.mime}: {media.name or 'unnamed'}]" for media in left_out]
    content = "\n".join([*([message.content] if message.content.strip() else []), *mentions])
    media = tuple(kept) if message.role == "user" else ()
    return Message(
        role=message.role,
        content=content,
        media=media,
        tool_calls=message.tool_calls,
        tool_call_id=message.tool_call_id,
    )


def _message(message: Message) -> Iterator[Json]:
    match message.role:
        case "tool":
            yield {
                "role": "tool",
                "tool_call_id": message.tool_call_id,
                "content": message.content,
            }
        case "assistant" if message.tool_calls:
            yield {
                "role": "assistant",
                "content": message.content if message.content.strip() else None,
                "tool_calls": [_call(call) for call in message.tool_calls],
            }
        case "user" if message.media:
            yield {"role": "user", "content": list(_parts(message))}
        case role:
            yield {"role": role, "content": message.content}


def _parts(message: Message) -> Iterator[Json]:
    if message.content.strip():
        yield {"type": "text", "text": message.content}
    for media in message.media:
        data = base64.b64encode(media.data).decode()
        yield {"type": "image_url", "image_url": {"url": f"data:{media.mime};base64,{data}"}}


def _call(call: ToolCall) -> Json:
    arguments = call.arguments
    if not is_object(arguments):  # some servers parse them, and fail
        arguments = json.dumps({"invalid_json": arguments}, ensure_ascii=False)
    function = {"name": tool_name(call.name), "arguments": arguments}
    return {"id": call.id, "type": "function", "function": function}
