"""Which options of a request the vendor accepts, and which together."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from octo_lab.llm.wires.anthropic.validate_blocks import extra, mark, tool_name
from octo_lab.llm.wires.checks import Refused, a_text, an_array, an_object, require

Json = Mapping[str, Any]
_NO_TOP = ("oneOf", "anyOf", "allOf")
_EFFORTS = ("low", "medium", "high", "xhigh", "max")
_LEAST_BUDGET = 1_024
_BINDING = "thinking-binding-controls-"
# fmt: off
_NOT_IN_FORMATS = (
    "minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf",
    "minLength", "maxLength", "maxItems", "uniqueItems", "oneOf", "patternProperties",
)
# fmt: on
_CHOICES = {
    "auto": frozenset({"type", "disable_parallel_tool_use"}),
    "any": frozenset({"type", "disable_parallel_tool_use"}),
    "tool": frozenset({"type", "name", "disable_parallel_tool_use"}),
    "none": frozenset({"type"}),
}


def options(body: Json, betas: Sequence[str]) -> None:
    """Raises Refused for the first option that does not fit."""
    _numbers(body)
    _stops(body)
    names = _tools(body)
    choice = _choice(body, names)
    _thinking(body, choice, betas)
    _output(body)
    metadata = an_object(body.get("metadata", {}), "metadata")
    extra(metadata, frozenset({"user_id"}), "metadata")


def _numbers(body: Json) -> None:
    for name in ("temperature", "top_p"):
        value = body.get(name, 1)
        fits = type(value) in (int, float) and 0 <= value <= 1
        require(fits, "Input should be between 0 and 1", name)
    most = body.get("top_k", 0)
    require(type(most) is int and most >= 0, "Input should be greater than 0", "top_k")


def _stops(body: Json) -> None:
    for index, word in enumerate(an_array(body.get("stop_sequences", []), "stop_sequences")):
        fits = isinstance(word, str) and bool(word.strip())
        place = f"stop_sequences.{index}"
        require(fits, "each stop sequence must contain non-whitespace", place)


def _tools(body: Json) -> set[str]:
    names: set[str] = set()
    for index, item in enumerate(an_array(body.get("tools", []), "tools")):
        where = f"tools.{index}"
        tool = an_object(item, where)
        known = {"name", "description", "input_schema", "cache_control", "type", "strict"}
        extra(tool, frozenset(known), where)
        mark(tool, where)
        tool_name(tool.get("name"), f"{where}.name")
        require(tool["name"] not in names, "Tool names must be unique.", "tools")
        names.add(tool["name"])
        if "description" in tool:
            a_text(tool["description"], f"{where}.description")
        schema = an_object(tool.get("input_schema"), f"{where}.input_schema")
        place = f"{where}.input_schema.type"
        require(schema.get("type") == "object", "Input should be 'object'", place)
        top = not any(word in schema for word in _NO_TOP)
        require(top, "input_schema does not support oneOf, allOf, or anyOf at the top level", where)
    return names


def _choice(body: Json, names: set[str]) -> str:
    if "tool_choice" not in body:
        return "auto"
    choice = an_object(body["tool_choice"], "tool_choice")
    kind = choice.get("type")
    if not isinstance(kind, str) or kind not in _CHOICES:
        raise Refused(f"Input tag {kind!r} is unknown", "tool_choice")
    extra(choice, _CHOICES[kind], "tool_choice")
    require(bool(names), "tool_choice may only be specified while providing tools", "tool_choice")
    if kind == "tool":
        known = choice.get("name") in names
        require(known, f"Tool {choice.get('name')!r} not found in provided tools", "tool_choice")
    return kind


def _thinking(body: Json, choice: str, betas: Sequence[str]) -> None:
    if "thinking" not in body:
        return
    thinking = an_object(body["thinking"], "thinking")
    match thinking.get("type"):
        case "disabled":
            extra(thinking, frozenset({"type"}), "thinking")
            return
        case "adaptive":
            extra(thinking, frozenset({"type", "display", "block_binding"}), "thinking")
        case "enabled":
            known = frozenset({"type", "budget_tokens", "display", "block_binding"})
            extra(thinking, known, "thinking")
            _budget(thinking.get("budget_tokens"), body["max_tokens"])
        case other:
            raise Refused(f"Input tag {other!r} is unknown", "thinking")
    shown = thinking.get("display", "summarized")
    require(shown in ("summarized", "omitted"), "Input is unknown", "thinking.display")
    allowed = "block_binding" not in thinking or any(b.startswith(_BINDING) for b in betas)
    require(allowed, "Extra inputs are not permitted", "thinking.block_binding")
    message = "Thinking may not be enabled when tool_choice forces tool use."
    require(choice not in ("any", "tool"), message, "tool_choice")
    message = "`temperature` may only be set to 1 when thinking is enabled."
    require(body.get("temperature", 1) == 1, message, "temperature")


def _budget(value: object, limit: int) -> None:
    place = "thinking.enabled.budget_tokens"
    fits = isinstance(value, int) and type(value) is int and value >= _LEAST_BUDGET
    require(fits, "Input should be greater than or equal to 1024", place)
    less = isinstance(value, int) and value < limit
    require(less, "`max_tokens` must be greater than `thinking.budget_tokens`.", place)


def _output(body: Json) -> None:
    output = an_object(body.get("output_config", {}), "output_config")
    extra(output, frozenset({"effort", "format"}), "output_config")
    effort = output.get("effort", "high")
    require(effort in _EFFORTS, "Input is unknown", "output_config.effort")
    if "format" in output:
        form = an_object(output["format"], "output_config.format")
        extra(form, frozenset({"type", "schema"}), "output_config.format")
        known = form.get("type") == "json_schema"
        require(known, "Input should be 'json_schema'", "output_config.format.type")
        _format(an_object(form.get("schema"), "output_config.format.schema"))


def _format(schema: object) -> None:
    """What constrained writing cannot do: open objects, bounds, references in a circle."""
    place = "output_config.format.schema"
    if isinstance(schema, list):
        for one in schema:
            _format(one)
    if not isinstance(schema, Mapping):
        return
    if schema.get("type") == "object":
        message = "For 'object' type, 'additionalProperties' must be explicitly set to false"
        require(schema.get("additionalProperties") is False, message, place)
    for word in _NOT_IN_FORMATS:
        require(word not in schema, f"property '{word}' is not supported", place)
    for word in ("properties", "$defs"):
        for part in an_object(schema.get(word, {}), place).values():
            _format(part)
    for word in ("items", "anyOf", "allOf"):
        _format(schema.get(word))
