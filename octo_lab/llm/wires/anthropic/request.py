"""Writes an Anthropic messages request: a pure function from request to JSON."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from pydantic_core import to_json

from octo_lab.core.messages import ChatRequest, Effort, Message, OneTool
from octo_lab.core.text import clean
from octo_lab.llm.hints import ModelHints
from octo_lab.llm.provider_config import ProviderConfig
from octo_lab.llm.repair import repair
from octo_lab.llm.tool_names import alias
from octo_lab.llm.wires.anthropic.models import Facts, facts_of
from octo_lab.llm.wires.anthropic.schema import closed_schema
from octo_lab.llm.wires.anthropic.state import text_blocks
from octo_lab.llm.wires.anthropic.transcript import (
    Reader,
    blocks_of,
    may_think,
    thinks,
    turns,
)

Json = dict[str, Any]
VERSION = "2023-06-01"  # the last that knows a temperature, and the one that every host knows
BINDING = "thinking-binding-controls-2026-08-01"
LEAST_BUDGET = 1_024
_BUDGETS: dict[Effort, int] = {"minimal": 1_024, "low": 4_096, "medium": 8_192, "high": 16_384}
_MARK = {"type": "ephemeral"}
_NO_TOP = ("oneOf", "anyOf", "allOf")  # of a tool's schema; refused at its top
_ANSWER = "final_answer"
_ANSWER_TEXT = "Give your answer by calling this tool, once and last; write nothing else."


@dataclass(frozen=True, slots=True, kw_only=True)
class Written:
    """A request as it is sent: the body as JSON, and the features it must name in a header."""

    body: Json
    betas: tuple[str, ...] = ()


def request_bytes(body: Json) -> bytes:
    """The body as it is sent; lone surrogates become U+FFFD, for no server reads them."""
    try:
        return to_json(body)  # several times as fast as the standard library
    except ValueError:
        return clean(json.dumps(body, ensure_ascii=False)).encode()


def answer_tool(request: ChatRequest, model: str) -> str:
    """The tool whose input is the answer, for JSON that the vendor cannot hold the text to."""
    schema = request.response_schema
    if schema is None or (facts_of(model).formats and closed_schema(schema) is not None):
        return ""
    taken = {alias(tool.name) for tool in request.tools}
    names = (f"{_ANSWER}{'_' * n}" for n in range(len(taken) + 1))
    return next(name for name in names if name not in taken)


def messages_request(request: ChatRequest, config: ProviderConfig, hints: ModelHints) -> Written:
    """A repaired copy of the transcript, and only fields that mean something."""
    facts = facts_of(config.model)
    system, rest = _split(repair(request.messages))
    written = turns(rest, _reader(config, hints, facts))
    tools = _tools(request, config.model, written)
    choice = _choice(request, tools, hints, facts, answer_tool(request, config.model))
    forced = bool(tools) and choice["type"] in ("any", "tool")
    limit, thinking = _thinking(request, facts, forced=forced, may=may_think(written))
    body: Json = {"model": config.model, "max_tokens": limit}
    body |= {"system": system} if system else {}
    body |= {"tools": tools} if tools else {}
    body |= {"tool_choice": choice} if tools and choice["type"] != "auto" else {}
    body |= {"messages": written, "stream": True}
    body |= {"thinking": thinking} if thinking else {}
    body |= dict(_options(request, hints, facts, thinking))
    _mark(body)
    if not (facts.bound and thinks(written)):
        return Written(body=body)
    # The transcript before old thinking may have been shortened since: then it is left out.
    body["thinking"] = {**thinking, "block_binding": {"prefix_mismatch_behavior": "drop_block"}}
    return Written(body=body, betas=(BINDING,))


def _reader(config: ProviderConfig, hints: ModelHints, facts: Facts) -> Reader:
    return Reader(
        provider=config.name,
        model=config.model,
        vision=hints.vision,
        replays=hints.replay_state,
        signed=facts.signed,
        prefill=facts.prefill,
    )


def _split(messages: Sequence[Message]) -> tuple[list[Json], list[Message]]:
    said = [m.content for m in messages if m.role == "system"]
    system = [block for text in said for block in text_blocks(text)]
    return system, [m for m in messages if m.role != "system"]


def _tools(request: ChatRequest, model: str, written: Sequence[Json]) -> list[Json]:
    """What is offered; tools that were called before are named even when none is."""
    tools: dict[str, Json] = {}
    for tool in request.tools:
        tools.setdefault(alias(tool.name), _tool(alias(tool.name), tool.description, tool.schema))
    answer = answer_tool(request, model)
    if answer:
        tools[answer] = _tool(answer, _ANSWER_TEXT, request.response_schema or {})
    if not tools:
        called = (one["name"] for one in blocks_of(written) if one["type"] == "tool_use")
        tools = {name: _tool(name, "", {}) for name in called}
    return list(tools.values())


def _tool(name: str, description: str, schema: Mapping[str, Any]) -> Json:
    described = {"description": description} if description.strip() else {}
    fields = {word: part for word, part in schema.items() if word not in _NO_TOP}
    return {"name": name, **described, "input_schema": {**fields, "type": "object"}}


def _choice(
    request: ChatRequest, tools: Sequence[Json], hints: ModelHints, facts: Facts, answer: str
) -> Json:
    wanted = request.tool_choice
    if answer:
        only = not request.tools or wanted == "none"
        wanted = OneTool(answer) if only else "required"
    if not answer and not request.tools:
        wanted = "none"
    if wanted in ("auto", "none"):
        return {"type": wanted}
    if facts.thinking == "always" or hints.tool_choice == "auto":
        return {"type": "auto"}
    if isinstance(wanted, OneTool) and hints.tool_choice == "name":
        name = alias(wanted.name)
        if any(tool["name"] == name for tool in tools):
            return {"type": "tool", "name": name}
    return {"type": "any"}


def _thinking(request: ChatRequest, facts: Facts, *, forced: bool, may: bool) -> tuple[int, Json]:
    """The limit of the answer, thinking included, and how to think."""
    style = facts.thinking
    asked = request.effort is not None or style in ("default", "always")
    if forced and style == "default":
        return _limit(request, facts, 0), {"type": "disabled"}
    if not asked or forced or style == "none":
        return _limit(request, facts, 0), {}
    wanted = _BUDGETS[request.effort or "medium"]
    limit = _limit(request, facts, wanted)
    if style != "budget":
        return limit, {"type": "adaptive", **({"display": "summarized"} if facts.display else {})}
    budget = min(wanted, limit // 2)
    if budget < LEAST_BUDGET or not may:
        return _limit(request, facts, 0), {}
    return limit, {"type": "enabled", "budget_tokens": budget}


def _limit(request: ChatRequest, facts: Facts, thinking: int) -> int:
    limit = request.max_tokens or facts.usual_output + thinking
    return min(limit, facts.max_output) if facts.max_output else limit


def _options(
    request: ChatRequest, hints: ModelHints, facts: Facts, thinking: Json
) -> Iterator[tuple[str, Any]]:
    calm = not thinking or thinking["type"] == "disabled"
    if request.temperature is not None and facts.sampling and calm and not hints.fixed_temperature:
        yield "temperature", min(max(request.temperature, 0.0), 1.0)
    stop = [word for word in request.stop if word.strip()]
    if stop and hints.stop:
        yield "stop_sequences", stop
    output = dict(_output(request, facts, thinking))
    if output:
        yield "output_config", output


def _output(request: ChatRequest, facts: Facts, thinking: Json) -> Iterator[tuple[str, Any]]:
    if request.effort and thinking.get("type") == "adaptive":
        yield "effort", "low" if request.effort == "minimal" else request.effort
    schema = request.response_schema
    closed = closed_schema(schema) if schema is not None and facts.formats else None
    if closed is not None:
        yield "format", {"type": "json_schema", "schema": closed}


def _mark(body: Json) -> None:
    """Ends of what the next request begins with, for the vendor's cache: tools, system, and the
    last two user turns. A single question without tools is not worth what writing it costs.
    """
    users = [turn for turn in body["messages"] if turn["role"] == "user"]
    if len(users) > 1 or "tools" in body:
        for turn in users[-2:]:
            turn["content"][-1]["cache_control"] = _MARK
    for part in ("tools", "system"):
        if part in body:
            body[part][-1]["cache_control"] = _MARK
