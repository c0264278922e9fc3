"""What the OpenAI Responses dialect accepts, read as strictly as the vendor's schema."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from octo_lab.llm.hints import model_hints
from octo_lab.llm.wires.body import is_strict
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
from octo_lab.llm.wires.responses.validate_items import check_items

# fmt: off
_FIELDS = frozenset((
    "model", "input", "instructions", "stream", "stream_options", "store", "include", "tools",
    "tool_choice", "parallel_tool_calls", "max_tool_calls", "max_output_tokens", "temperature",
    "top_p", "top_logprobs", "reasoning", "text", "metadata", "truncation", "user",
    "safety_identifier", "service_tier", "prompt_cache_key", "prompt_cache_retention",
    "background", "previous_response_id", "conversation", "prompt",
))
_INCLUDABLE = frozenset((
    "file_search_call.results", "web_search_call.results", "web_search_call.action.sources",
    "message.input_image.image_url", "computer_call_output.output.image_url",
    "code_interpreter_call.outputs", "reasoning.encrypted_content",
    "message.output_text.logprobs",
))
_EFFORTS = frozenset(("none", "minimal", "low", "medium", "high", "xhigh", "max"))
_SUMMARIES = frozenset(("auto", "concise", "detailed"))
_TOOL_FIELDS = frozenset(("type", "name", "description", "parameters", "strict"))
# fmt: on
_LEAST_TOKENS = 16
_MAX_TOOLS = 128


def request_problem(body: object) -> Problem | None:
    """The first reason why the vendor would answer 400 to this request, or None."""
    try:
        _request(an_object(body, "body"))
    except Refused as exc:
        return exc.problem
    return None


def _request(body: Mapping[str, Any]) -> None:
    for name in body:
        require(name in _FIELDS, f"Unknown parameter: '{name}'.", name)
    model = a_text(body.get("model"), "model")
    for name in ("stream", "store", "parallel_tool_calls", "background"):
        require(isinstance(body.get(name, True), bool), f"Invalid type for '{name}'.", name)
    require(
        "stream_options" not in body or body.get("stream") is True,
        "The 'stream_options' parameter is only allowed when 'stream' is enabled.",
        "stream_options",
    )
    _limits(body)
    _told(body)
    _only_where_known(body, model)
    _tools(body)
    _text(body)
    items = body.get("input")
    if isinstance(items, str):
        a_text(items, "input")
    else:
        check_items(items)


def _limits(body: Mapping[str, Any]) -> None:
    least = body.get("max_output_tokens", _LEAST_TOKENS)
    require(
        type(least) is int and least >= _LEAST_TOKENS,
        f"Invalid 'max_output_tokens': integer below minimum value. Expected a value >= "
        f"{_LEAST_TOKENS}, but got {least} instead.",
        "max_output_tokens",
    )
    for name, highest in (("temperature", 2), ("top_p", 1)):
        value = body.get(name, 1)
        require(
            type(value) in (int, float) and 0 <= value <= highest,
            f"Invalid '{name}': outside 0 to {highest}.",
            name,
        )


def _told(body: Mapping[str, Any]) -> None:
    if body.get("instructions") is not None:
        a_text(body["instructions"], "instructions")
    for index, name in enumerate(an_array(body.get("include", []), "include")):
        require(name in _INCLUDABLE, f"Invalid value: {name!r}.", f"include[{index}]")
    reasoning = an_object(body.get("reasoning", {}), "reasoning")
    only(reasoning, {"effort", "summary", "generate_summary"}, "reasoning")
    for name, allowed in (("effort", _EFFORTS), ("summary", _SUMMARIES)):
        value = reasoning.get(name)
        require(
            value is None or value in allowed, f"Invalid value: {value!r}.", f"reasoning.{name}"
        )


def _only_where_known(body: Mapping[str, Any], model: str) -> None:
    """What a model whose name tells what it is refuses."""
    unknown = "Unsupported parameter: '{}' is not supported with this model."
    if model_hints(model).fixed_temperature:
        require("temperature" not in body, unknown.format("temperature"), "temperature")
    if model.startswith("gpt-4"):
        require("reasoning" not in body, unknown.format("reasoning.effort"), "reasoning")
        require(
            "reasoning.encrypted_content" not in body.get("include", ()),
            "Encrypted content is not supported with this model.",
            "include",
        )


def _tools(body: Mapping[str, Any]) -> None:
    tools = an_array(body.get("tools", []), "tools")
    require(len(tools) <= _MAX_TOOLS, f"Invalid 'tools': more than {_MAX_TOOLS}.", "tools")
    for index, tool in enumerate(tools):
        _tool(an_object(tool, f"tools[{index}]"), f"tools[{index}]")
    choice = body.get("tool_choice", "auto")
    if not isinstance(choice, Mapping):
        known = choice in ("auto", "required", "none")
        require(known, f"Invalid value: {choice!r}.", "tool_choice")
        require(
            bool(tools) or choice != "required",
            "Tool choice 'required' must be specified with 'tools' parameter.",
            "tool_choice",
        )
        return
    only(choice, {"type", "name"}, "tool_choice")
    require(choice.get("type") == "function", "Invalid value.", "tool_choice.type")
    require(
        any(tool["name"] == choice.get("name") for tool in tools),
        f"Tool choice '{choice.get('name')}' not found in 'tools' parameter.",
        "tool_choice",
    )


def _tool(tool: Mapping[str, Any], where: str) -> None:
    require(tool.get("type") == "function", "Invalid value.", f"{where}.type")
    only(tool, _TOOL_FIELDS, where)
    a_name(tool.get("name"), f"{where}.name")
    schema = an_object(tool.get("parameters") or {"type": "object"}, f"{where}.parameters")
    _schema(schema, bool(tool.get("strict")), f"{where}.parameters")
    require(
        schema.get("type") == "object", "schema must be of type 'object'", f"{where}.parameters"
    )


def _text(body: Mapping[str, Any]) -> None:
    text = an_object(body.get("text", {}), "text")
    only(text, {"format", "verbosity"}, "text")
    form = an_object(text.get("format", {"type": "text"}), "text.format")
    match form.get("type"):
        case "text":
            only(form, {"type"}, "text.format")
        case "json_object":
            only(form, {"type"}, "text.format")
            require(
                "json" in json.dumps(body.get("input")).lower(),
                "Response input messages must contain the word 'json' in some form to use "
                "'text.format' of type 'json_object'.",
                "input",
            )
        case "json_schema":
            only(form, {"type", "name", "schema", "strict", "description"}, "text.format")
            a_name(form.get("name"), "text.format.name")
            schema = an_object(form.get("schema"), "text.format.schema")
            _schema(schema, bool(form.get("strict")), "text.format.schema")
        case other:
            raise Refused(f"Invalid value: {other!r}.", "text.format.type")


def _schema(schema: Mapping[str, Any], strict: bool, where: str) -> None:
    require(
        not strict or is_strict(schema),
        "'additionalProperties' is required to be supplied and to be false, and 'required' to "
        "name every property.",
        where,
    )
