"""Writes a request of the OpenAI Responses API: a pure function from request to JSON.

The API knows no stop sequences: ``ChatRequest.stop`` is not sent.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from octo_lab.core.messages import ChatRequest, Media, Message, OneTool, ToolCall, ToolSpec
from octo_lab.llm.hints import ModelHints
from octo_lab.llm.repair import repair
from octo_lab.llm.text_only import mention, text_only
from octo_lab.llm.tool_choice import offered
from octo_lab.llm.tool_names import alias
from octo_lab.llm.wires.body import (
    as_bytes,
    is_strict,
    json_wish,
    told_effort,
    written_arguments,
)
from octo_lab.llm.wires.pictures import can_show, data_url
from octo_lab.llm.wires.responses.kept import Kept

Json = dict[str, Any]
LEAST_TOKENS = 16  # the vendor refuses a lower limit
_ENCRYPTED = "reasoning.encrypted_content"


def request_bytes(request: ChatRequest, provider: str, model: str, hints: ModelHints) -> bytes:
    """The body as it is sent."""
    return as_bytes(responses_request(request, provider, model, hints))


def responses_request(request: ChatRequest, provider: str, model: str, hints: ModelHints) -> Json:
    """The body as JSON. Nothing is stored at the vendor: thinking travels with the history."""
    messages = repair(request.messages if hints.tools else text_only(request.messages))
    kept = Kept(provider, model) if hints.replay_state else None
    body: Json = {
        "model": model,
        "input": [
            *_wish(request, hints),
            *(item for message in messages for item in _items(message, kept, hints)),
        ],
        "store": False,
        "stream": request.streamed,
    }
    if messages[0].role == "system":
        body["instructions"] = messages[0].content
    body.update(_choices(request, hints))
    return body


def _choices(request: ChatRequest, hints: ModelHints) -> Iterator[tuple[str, Any]]:
    tools, choice = offered(request, hints)
    if tools:
        yield "tools", [_tool(tool) for tool in tools]
    if isinstance(choice, OneTool):
        yield "tool_choice", {"type": "function", "name": alias(choice.name)}
    elif choice != "auto":
        yield "tool_choice", choice
    if request.max_tokens:
        yield "max_output_tokens", max(request.max_tokens, LEAST_TOKENS)
    if request.temperature is not None and not hints.fixed_temperature:
        yield "temperature", request.temperature
    if reasoning := _reasoning(request, hints):
        yield "reasoning", reasoning
    if hints.effort and hints.replay_state:
        yield "include", [_ENCRYPTED]
    form = _format(request.response_schema, hints)
    if form:
        yield "text", {"format": form}


def _reasoning(request: ChatRequest, hints: ModelHints) -> Json:
    """How much to think, and that it be summed up: else nothing is seen of it."""
    effort = told_effort(request.effort, hints)
    told = {"effort": effort} if effort else {}
    return told | {"summary": "auto"} if hints.effort and hints.summaries else told


def _format(schema: Mapping[str, Any] | None, hints: ModelHints) -> Json | None:
    if schema is None or hints.structured == "words":
        return None
    if not schema or hints.structured == "object":
        return {"type": "json_object"}
    return {
        "type": "json_schema",
        "name": "answer",
        "schema": dict(schema),
        "strict": hints.strict and is_strict(schema),
    }


def _wish(request: ChatRequest, hints: ModelHints) -> Iterator[Json]:
    if words := json_wish(request, hints):
        yield {"type": "message", "role": "developer", "content": words}


def _tool(tool: ToolSpec) -> Json:
    return {
        "type": "function",
        "name": alias(tool.name),
        "description": tool.description,
        "parameters": dict(tool.schema),
        "strict": False,  # else the vendor would change the schema
    }


def _items(message: Message, kept: Kept | None, hints: ModelHints) -> Iterator[Json]:
    match message.role:
        case "user":
            yield {"type": "message", "role": "user", "content": _content(message, hints)}
        case "tool":
            yield {
                "type": "function_call_output",
                "call_id": message.tool_call_id,
                "output": _content(message, hints),
            }
        case "assistant":
            yield from (kept and kept.items(message)) or _said(message)
        case "system":
            return


def _content(message: Message, hints: ModelHints) -> str | list[Json]:
    """Text, or text with pictures; what cannot be shown is mentioned by name."""
    shown = [media for media in message.media if can_show(media, vision=hints.vision)]
    text = _with_mentions(message, [media for media in message.media if media not in shown])
    if not shown:
        return text
    words = [{"type": "input_text", "text": text}] if text.strip() else []
    return [*words, *map(_picture, shown)]


def _picture(media: Media) -> Json:
    return {"type": "input_image", "detail": "auto", "image_url": data_url(media)}


def _with_mentions(message: Message, hidden: Sequence[Media]) -> str:
    lines = [message.content] if message.content.strip() or not hidden else []
    return "\n".join([*lines, *map(mention, hidden)])


def _said(message: Message) -> Iterator[Json]:
    """A message of the assistant in new items; ids of old ones would ask for their thinking."""
    text = _with_mentions(message, message.media)
    if text.strip():
        yield {"type": "message", "role": "assistant", "content": text}
    for call in message.tool_calls:
        yield _call(call)


def _call(call: ToolCall) -> Json:
    return {
        "type": "function_call",
        "call_id": call.id,
        "name": alias(call.name),
        "arguments": written_arguments(call.arguments),
    }
