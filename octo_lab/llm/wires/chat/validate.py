"""What the OpenAI chat-completions dialect accepts, read as strictly as the vendor's schema."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from octo_lab.llm.wires.checks import (
    Problem,
    Refused,
    a_name,
    a_text,
    an_array,
    an_object,
    only,
    require,
)

# fmt: off
_FIELDS = frozenset((
    "model", "messages", "stream", "stream_options", "max_tokens", "max_completion_tokens",
    "temperature", "top_p", "n", "stop", "seed", "tools", "tool_choice", "parallel_tool_calls",
    "response_format", "reasoning_effort", "user", "logprobs", "top_logprobs",
    "frequency_penalty", "presence_penalty", "logit_bias", "store", "metadata",
))
# fmt: on
_ROLE_FIELDS = {
    "system": frozenset({"role", "content", "name"}),
    "developer": frozenset({"role", "content", "name"}),
    "user": frozenset({"role", "content", "name"}),
    "assistant": frozenset({"role", "content", "name", "tool_calls", "refusal"}),
    "tool": frozenset({"role", "content", "tool_call_id"}),
}
# What servers take beyond the vendor's own schema; OpenAI's refuses it.
_THOUGHTS = frozenset({"reasoning_content", "reasoning", "reasoning_details"})
_EXTENSIONS = frozenset({"reasoning", "usage"})
_EFFORTS = ("none", "minimal", "low", "medium", "high", "xhigh")
_MAX_STOP = 4
_MAX_TOOLS = 128


def request_problem(body: object, *, extended: bool = False) -> Problem | None:
    """The first reason why the vendor would answer 400 to this request, or None.

    ``extended`` takes what other vendors of the dialect add to it: thinking that is sent back.
    """
    try:
        request = an_object(body, "body")
        _request(_plain(request) if extended else request)
    except Refused as exc:
        return exc.problem
    return None


def _plain(body: Mapping[str, Any]) -> Mapping[str, Any]:
    """The request without the extensions, once these are right."""
    messages = an_array(body.get("messages"), "messages")
    plain = [_without_thoughts(item, f"messages[{n}]") for n, item in enumerate(messages)]
    kept = {name: value for name, value in body.items() if name not in _EXTENSIONS}
    return {**kept, "messages": plain}


def _without_thoughts(item: object, where: str) -> object:
    if not isinstance(item, Mapping) or item.get("role") != "assistant":
        return item
    for name in ("reasoning_content", "reasoning"):
        if name in item:
            require(isinstance(item[name], str), "expected a string", f"{where}.{name}")
    for part in an_array(item.get("reasoning_details", []), f"{where}.reasoning_details"):
        an_object(part, f"{where}.reasoning_details")
    return {name: value for name, value in item.items() if name not in _THOUGHTS}


def _request(body: Mapping[str, Any]) -> None:
    for name in body:
        require(name in _FIELDS, f"Unrecognized request argument supplied: {name}", name)
    a_text(body.get("model"), "model")
    require(
        "max_tokens" not in body or "max_completion_tokens" not in body,
        "Set either max_tokens or max_completion_tokens, not both.",
        "max_tokens",
    )
    for name in ("max_tokens", "max_completion_tokens"):
        value = body.get(name, 1)
        require(type(value) is int and value >= 1, f"Invalid {name!r}: below 1.", name)
    temperature = body.get("temperature", 1)
    require(
        type(temperature) in (int, float) and 0 <= temperature <= 2,
        "Invalid 'temperature': outside 0 to 2.",
        "temperature",
    )
    require(
        "stream_options" not in body or body.get("stream") is True,
        "'stream_options' is only allowed when 'stream' is enabled.",
        "stream_options",
    )
    effort = body.get("reasoning_effort", "low")
    require(effort in _EFFORTS, f"Invalid value: {effort!r}.", "reasoning_effort")
    _stop(body)
    _tools(body)
    _response_format(body)
    _messages(body.get("messages"))


def _stop(body: Mapping[str, Any]) -> None:
    stop = body.get("stop", "x")
    words = [stop] if isinstance(stop, str) else an_array(stop, "stop")
    require(1 <= len(words) <= _MAX_STOP, f"Invalid 'stop': 1 to {_MAX_STOP} words.", "stop")
    for word in words:
        a_text(word, "stop")


def _tools(body: Mapping[str, Any]) -> None:
    if "tools" not in body:
        require(
            "tool_choice" not in body, "'tool_choice' is only allowed with 'tools'.", "tool_choice"
        )
        return
    tools = an_array(body["tools"], "tools")
    require(1 <= len(tools) <= _MAX_TOOLS, f"Invalid 'tools': 1 to {_MAX_TOOLS} tools.", "tools")
    names = [_tool(tool, f"tools[{index}]") for index, tool in enumerate(tools)]
    require(len(set(names)) == len(names), "Tool names must be unique.", "tools")
    choice = body.get("tool_choice", "auto")
    if choice in ("auto", "required", "none"):
        return
    only(an_object(choice, "tool_choice"), {"type", "function"}, "tool_choice")
    require(choice.get("type") == "function", f"Invalid value: {choice!r}.", "tool_choice.type")
    function = an_object(choice.get("function"), "tool_choice.function")
    only(function, {"name"}, "tool_choice.function")
    name = function.get("name")
    require(name in names, f"Tool choice {name!r} not found in 'tools'.", "tool_choice")


def _tool(tool: object, where: str) -> str:
    tool = an_object(tool, where)
    only(tool, {"type", "function"}, where)
    require(tool.get("type") == "function", "Supported types are: 'function'.", f"{where}.type")
    function = an_object(tool.get("function"), f"{where}.function")
    only(function, {"name", "description", "parameters", "strict"}, f"{where}.function")
    a_name(function.get("name"), f"{where}.function.name")
    parameters = an_object(
        function.get("parameters", {"type": "object"}), f"{where}.function.parameters"
    )
    require(
        parameters.get("type") == "object",
        "schema must be of type 'object'",
        f"{where}.function.parameters",
    )
    return str(function["name"])


def _response_format(body: Mapping[str, Any]) -> None:
    form = an_object(body.get("response_format", {"type": "text"}), "response_format")
    require(
        form.get("type") in ("text", "json_object", "json_schema"),
        f"Invalid value: {form.get('type')!r}.",
        "response_format.type",
    )
    if form["type"] == "json_schema":
        schema = an_object(form.get("json_schema"), "response_format.json_schema")
        a_name(schema.get("name"), "response_format.json_schema.name")
        an_object(schema.get("schema"), "response_format.json_schema.schema")
    if form["type"] == "json_object":
        require(
            "json" in json.dumps(body.get("messages")).lower(),
            "'messages' must contain the word 'json' in some form.",
            "messages",
        )


def _messages(messages: object) -> None:
    items = an_array(messages, "messages")
    require(bool(items), "Invalid 'messages': empty array.", "messages")
    open_calls: list[str] = []
    for index, item in enumerate(items):
        where = f"messages[{index}]"
        message = _message(item, where)
        if message["role"] == "tool":
            _answer(message, open_calls, where)
            continue
        require(not open_calls, _UNANSWERED + ", ".join(open_calls), where)
        open_calls = [call["id"] for call in message.get("tool_calls") or ()]
    require(not open_calls, _UNANSWERED + ", ".join(open_calls), "messages")


_UNANSWERED = (
    "An assistant message with 'tool_calls' must be followed by tool messages responding to each "
    "'tool_call_id'. The following tool_call_ids did not have response messages: "
)


def _answer(message: Mapping[str, Any], open_calls: list[str], where: str) -> None:
    require(
        message["tool_call_id"] in open_calls,
        "messages with role 'tool' must be a response to a preceding message with 'tool_calls'.",
        f"{where}.role",
    )
    open_calls.remove(message["tool_call_id"])


def _message(item: object, where: str) -> Mapping[str, Any]:
    message = an_object(item, where)
    role = message.get("role")
    require(role in _ROLE_FIELDS, f"Invalid value: {role!r}.", f"{where}.role")
    only(message, _ROLE_FIELDS[str(role)], where)
    match role:
        case "assistant":
            _assistant(message, where)
        case "tool":
            a_text(message.get("tool_call_id"), f"{where}.tool_call_id")
            require(
                isinstance(message.get("content"), str), "expected a string", f"{where}.content"
            )
        case _:
            _content(message.get("content"), where)
    return message


def _assistant(message: Mapping[str, Any], where: str) -> None:
    calls = an_array(message.get("tool_calls", ["none"]), f"{where}.tool_calls")
    require(bool(calls), "[] is too short", f"{where}.tool_calls")
    if "tool_calls" not in message:
        a_text(message.get("content"), f"{where}.content")
        return
    content = message.get("content")
    require(content is None or bool(str(content).strip()), "empty text", f"{where}.content")
    for index, call in enumerate(calls):
        _call(call, f"{where}.tool_calls[{index}]")
    ids = [call["id"] for call in calls]
    require(len(set(ids)) == len(ids), "Duplicate tool call id.", f"{where}.tool_calls")


def _call(call: object, where: str) -> None:
    call = an_object(call, where)
    only(call, {"id", "type", "function"}, where)
    a_text(call.get("id"), f"{where}.id")
    require(call.get("type") == "function", "Supported types are: 'function'.", f"{where}.type")
    function = an_object(call.get("function"), f"{where}.function")
    only(function, {"name", "arguments"}, f"{where}.function")
    a_name(function.get("name"), f"{where}.function.name")
    try:
        arguments = json.loads(a_text(function.get("arguments"), f"{where}.function.arguments"))
    except ValueError:
        arguments = None
    an_object(arguments, f"{where}.function.arguments")


def _content(content: object, where: str) -> None:
    if isinstance(content, str):
        a_text(content, f"{where}.content")
        return
    parts = an_array(content, f"{where}.content")
    require(bool(parts), "[] is too short", f"{where}.content")
    for index, part in enumerate(parts):
        _part(an_object(part, f"{where}.content[{index}]"), f"{where}.content[{index}]")


def _part(part: Mapping[str, Any], where: str) -> None:
    match part.get("type"):
        case "text":
            only(part, {"type", "text"}, where)
            a_text(part.get("text"), f"{where}.text")
        case "image_url":
            only(part, {"type", "image_url"}, where)
            a_text(an_object(part.get("image_url"), where).get("url"), f"{where}.image_url.url")
        case other:
            raise Refused(f"Invalid value: {other!r}.", f"{where}.type")
