"""Which tools a request offers, and what it demands of them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from octo_lab.core.messages import ChatRequest, OneTool, ToolChoice
from octo_lab.llm.hints import ModelHints
from octo_lab.llm.tool_choice import demanded
from octo_lab.llm.tool_names import alias
from octo_lab.llm.wires.anthropic.models import Facts
from octo_lab.llm.wires.anthropic.schema import closed_schema

Json = dict[str, Any]
_NO_TOP = ("oneOf", "anyOf", "allOf")  # refused at the top of a tool's schema
_ANSWER = "final_answer"
_ANSWER_TEXT = "Give your answer by calling this tool, once and last; write nothing else."


@dataclass(frozen=True, slots=True, kw_only=True)
class Offer:
    """``choice`` is the vendor's; ``forced``: some tool must be called."""

    tools: list[Json]
    choice: Json
    forced: bool = False


def answer_tool(request: ChatRequest) -> str:
    """The tool whose input is the answer, where JSON is asked for and that tool is offered."""
    if request.response_schema is None:
        return ""
    taken = {alias(tool.name) for tool in request.tools}
    names = (f"{_ANSWER}{'_' * n}" for n in range(len(taken) + 1))
    return next(name for name in names if name not in taken)


def answer_form(request: ChatRequest, hints: ModelHints, facts: Facts) -> Json | None:
    """The schema that the vendor itself holds the answer's text to, where it can."""
    schema = request.response_schema
    if schema is None or not facts.formats or hints.structured != "schema":
        return None
    return closed_schema(schema)


def offer(request: ChatRequest, hints: ModelHints, facts: Facts, called: Iterable[str]) -> Offer:
    """With a tool for the answer where JSON is asked for and its text cannot be held to it.

    Raises UsageError when a tool is demanded that is not there. Where one tool cannot be demanded,
    it is the only one offered. Tools ``called`` before are named even when none is offered: calls
    of unknown tools are refused.
    """
    if not hints.tools:
        return Offer(tools=[], choice={})
    tools = {alias(one.name): _tool(one.name, one.description, one.schema) for one in request.tools}
    answer = "" if answer_form(request, hints, facts) else answer_tool(request)
    wanted = _wanted(request, tools, answer)
    if answer:
        tools[answer] = _tool(answer, _ANSWER_TEXT, request.response_schema or {})
    if not tools:
        return Offer(tools=[_tool(one, "", {}) for one in dict.fromkeys(called)], choice=_NONE)
    forces = facts.thinking != "always" and hints.tool_choice != "auto"
    if isinstance(wanted, OneTool) and not (forces and hints.tool_choice == "name"):
        tools = {wanted.name: tools[wanted.name]}
        wanted = "required"
    if wanted == "none":
        return Offer(tools=list(tools.values()), choice=_NONE)
    choice = _choice(wanted) if forces else {}
    return Offer(tools=list(tools.values()), choice=choice, forced=bool(choice))


_NONE = {"type": "none"}


def _wanted(request: ChatRequest, tools: Mapping[str, Json], answer: str) -> ToolChoice:
    """What is demanded, by the names that are sent."""
    choice = request.tool_choice
    if isinstance(choice, OneTool) and tools:
        return OneTool(alias(demanded(request, choice.name).name))
    if answer:
        return "required" if tools and choice != "none" else OneTool(answer)
    return choice


def _choice(wanted: ToolChoice) -> Json:
    match wanted:
        case OneTool(name):
            return {"type": "tool", "name": name}
        case "required":
            return {"type": "any"}
        case _:
            return {}


def _tool(name: str, description: str, schema: Mapping[str, Any]) -> Json:
    described = {"description": description} if description.strip() else {}
    fields = {word: part for word, part in schema.items() if word not in _NO_TOP}
    return {"name": alias(name), **described, "input_schema": {**fields, "type": "object"}}
