"""Writes an OpenAI chat-completions request: a pure function from request to JSON."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from pydantic_core import to_json

from octo_lab.core.messages import ChatRequest, Effort, Message, OneTool, ToolSpec
from octo_lab.core.text import clean
from octo_lab.llm.hints import ModelHints
from octo_lab.llm.tool_choice import offered
from octo_lab.llm.tool_names import alias
from octo_lab.llm.wires.chat.messages import Target, written_messages

Json = dict[str, Any]
_MAX_STOP = 4


def request_bytes(request: ChatRequest, model: str, hints: ModelHints, provider: str = "") -> bytes:
    """The body as it is sent."""
    return as_bytes(chat_request(request, model, hints, provider))


def as_bytes(body: Json) -> bytes:
    """JSON; lone surrogates become U+FFFD, for no server reads them."""
    try:
        return to_json(body)  # several times as fast as the standard library
    except ValueError:
        return clean(json.dumps(body, ensure_ascii=False)).encode()


def chat_request(request: ChatRequest, model: str, hints: ModelHints, provider: str = "") -> Json:
    """The body as JSON: a repaired copy of the transcript, and only fields that mean something."""
    history = [*request.messages, *_json_words(request, hints)]
    target = Target(provider=provider, model=model, hints=hints)
    body: Json = {"model": model, "messages": written_messages(history, target), "stream": True}
    if hints.stream_usage:
        body["stream_options"] = {"include_usage": True}
    body.update(_tools(request, hints))
    body.update(_choices(request, hints))
    return body


def _tools(request: ChatRequest, hints: ModelHints) -> Iterator[tuple[str, Any]]:
    tools, choice = offered(request, hints)
    if tools:
        yield "tools", [_tool(tool) for tool in tools]
    if isinstance(choice, OneTool):
        yield "tool_choice", {"type": "function", "function": {"name": alias(choice.name)}}
    elif choice != "auto":
        yield "tool_choice", choice


def _choices(request: ChatRequest, hints: ModelHints) -> Iterator[tuple[str, Any]]:
    if request.max_tokens:
        name = "max_completion_tokens" if hints.completion_tokens else "max_tokens"
        yield name, request.max_tokens
    if request.temperature is not None and not hints.fixed_temperature:
        yield "temperature", request.temperature
    stop = [word for word in request.stop if word][:_MAX_STOP]
    if stop and hints.stop:
        yield "stop", stop
    if effort := told_effort(request.effort, hints):
        yield "reasoning_effort", effort
    if request.response_schema is not None and hints.structured != "words":
        yield "response_format", _format(request.response_schema, hints)


def told_effort(effort: Effort | None, hints: ModelHints) -> Effort | None:
    """What the model may be told of it."""
    if effort is None or not hints.effort:
        return None
    return effort if hints.minimal or effort != "minimal" else "low"


def _format(schema: Mapping[str, Any], hints: ModelHints) -> Json:
    if not schema or hints.structured == "object":
        return {"type": "json_object"}
    named: Json = {"name": "answer", "schema": dict(schema)}
    if hints.strict:
        named["strict"] = is_strict(schema)
    return {"type": "json_schema", "json_schema": named}


def _json_words(request: ChatRequest, hints: ModelHints) -> Sequence[Message]:
    """A model that no schema binds is told it; to ask for any object takes the word itself."""
    schema = request.response_schema
    if schema is None or (schema and hints.structured == "schema"):
        return ()
    words = "Answer with one JSON object and nothing else."
    if schema:
        text = json.dumps(schema, ensure_ascii=False)
        words = f"Answer with JSON and nothing else. It must fit this JSON Schema: {text}"
    return (Message(role="system", content=words),)


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
        "name": alias(tool.name),
        "description": tool.description,
        "parameters": dict(tool.schema),
    }
    return {"type": "function", "function": function}
