"""A request with tools as one without: they are told in words, and a call is JSON.

Small models follow no convention of tool calls reliably, and llama.cpp enforces none for most of
them; it does enforce a schema.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from octo_lab.core.messages import ChatRequest, Message, OneTool, ToolCall, ToolSpec
from octo_lab.llm.local.schema import answer_schema, plain
from octo_lab.llm.repair import repair
from octo_lab.llm.tool_choice import demanded

LONGEST_DESCRIPTION = 200
_TEXT: Mapping[str, Any] = {"type": "string"}


def emulates(request: ChatRequest) -> bool:
    """Whether a call may be made, so that the answer comes as JSON."""
    return bool(request.tools) and request.tool_choice != "none"


def spoken(request: ChatRequest) -> ChatRequest:
    """The request as a model without tools understands it; raises UsageError."""
    messages = [_as_text(message) for message in repair(request.messages)]
    if not emulates(request):
        return replace(request, messages=messages, tools=(), tool_choice="auto")
    tools = _offered(request)
    answer = request.response_schema or _TEXT if request.tool_choice == "auto" else None
    told = Message(role="system", content=_instructions(tools, may_answer=answer is not None))
    start = next((at for at, one in enumerate(messages) if one.role != "system"), len(messages))
    return replace(
        request,
        messages=[*messages[:start], told, *messages[start:]],
        tools=(),
        tool_choice="auto",
        response_schema=answer_schema(tools, answer),
        stop=(),  # they are meant for the text inside the JSON
    )


def call_text(call: ToolCall) -> str:
    """A call as the model writes it."""
    try:
        arguments = json.loads(call.arguments)
    except ValueError:
        arguments = {}
    return json.dumps({"tool": call.name, "arguments": arguments}, ensure_ascii=False)


def _offered(request: ChatRequest) -> Sequence[ToolSpec]:
    match request.tool_choice:
        case OneTool(name):
            return (demanded(request, name),)
        case _:
            return request.tools


def _as_text(message: Message) -> Message:
    match message.role:
        case "assistant" if message.tool_calls:
            parts = [message.content, *map(call_text, message.tool_calls)]
            return Message(role="assistant", content="\n".join(filter(str.strip, parts)))
        case "tool":
            failed = "" if message.outcome == "ok" else f" ({message.outcome})"
            content = f"Result of {message.tool_name}{failed}:\n{message.content}"
            return Message(role="user", content=content, media=message.media)
        case _:
            return message


def _instructions(tools: Iterable[ToolSpec], *, may_answer: bool) -> str:
    call = 'call a tool: {"tool": "NAME", "arguments": {…}}'
    ways = f'answer: {{"answer": "…"}}, or {call}' if may_answer else call
    lines = [f"Write one JSON object and nothing else. With it you {ways}", "The tools:"]
    return "\n".join([*lines, *map(_described, tools)])


def _described(tool: ToolSpec) -> str:
    """One line: name, parameters with their types (``?``: optional), what it does."""
    schema = plain(tool.schema, tool.schema)
    required = schema.get("required", ())
    fields = schema.get("properties", {}).items()
    parameters = [f"{name}{'' if name in required else '?'}: {_kind(one)}" for name, one in fields]
    what = " ".join(tool.description.split("\n\n")[0].split())[:LONGEST_DESCRIPTION]
    return f"- {tool.name}({', '.join(parameters)}): {what}"


def _kind(schema: Mapping[str, Any]) -> str:
    if "enum" in schema:
        return "|".join(json.dumps(one, ensure_ascii=False) for one in schema["enum"])
    if "const" in schema:
        return json.dumps(schema["const"], ensure_ascii=False)
    if "anyOf" in schema:
        return "|".join(dict.fromkeys(map(_kind, schema["anyOf"])))
    if schema.get("type") == "array":
        return f"list of {_kind(schema['items'])}"
    return str(schema.get("type", "any"))
