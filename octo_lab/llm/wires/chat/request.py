"""Writes an OpenAI chat-completions request: a pure function from request to JSON."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from octo_lab.core.messages import ChatRequest, Message, OneTool, ToolSpec
from octo_lab.llm.hints import ModelHints
from octo_lab.llm.tool_choice import offered
from octo_lab.llm.tool_names import alias
from octo_lab.llm.wires.body import as_bytes, is_strict, json_wish, told_effort
from octo_lab.llm.wires.chat.messages import Target, written_messages

Json = dict[str, Any]
_MAX_STOP = 4


def request_bytes(request: ChatRequest, model: str, hints: ModelHints, provider: str = "") -> bytes:
    """The body as it is sent."""
    return as_bytes(chat_request(request, model, hints, provider))


def chat_request(request: ChatRequest, model: str, hints: ModelHints, provider: str = "") -> Json:
    """The body as JSON: a repaired copy of the transcript, and only fields that mean something."""
    wish = json_wish(request, hints)
    asked = [Message(role="system", content=wish)] if wish else []
    target = Target(provider=provider, model=model, hints=hints)
    body: Json = {
        "model": model,
        "messages": written_messages([*request.messages, *asked], target),
        "stream": request.streamed,
    }
    if hints.stream_usage and request.streamed:
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


def _format(schema: Mapping[str, Any], hints: ModelHints) -> Json:
    if not schema or hints.structured == "object":
        return {"type": "json_object"}
    named: Json = {"name": "answer", "schema": dict(schema)}
    if hints.strict:
        named["strict"] = is_strict(schema)
    return {"type": "json_schema", "json_schema": named}


def _tool(tool: ToolSpec) -> Json:
    function = {
        "name": alias(tool.name),
        "description": tool.description,
        "parameters": dict(tool.schema),
    }
    return {"type": "function", "function": function}
