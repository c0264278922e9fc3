"""Writes an Anthropic messages request: a pure function from request to JSON."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

from octo_lab.core.messages import ChatRequest, Effort, Message
from octo_lab.llm.hints import ModelHints
from octo_lab.llm.provider_config import ProviderConfig
from octo_lab.llm.repair import repair
from octo_lab.llm.text_only import text_only
from octo_lab.llm.wires.anthropic.models import Facts, facts_of
from octo_lab.llm.wires.anthropic.state import text_blocks
from octo_lab.llm.wires.anthropic.tools import answer_form, offer
from octo_lab.llm.wires.anthropic.transcript import (
    Reader,
    called_tools,
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


@dataclass(frozen=True, slots=True, kw_only=True)
class Written:
    """A request as it is sent: the body as JSON, and the features it must name in a header."""

    body: Json
    betas: tuple[str, ...] = ()


def messages_request(request: ChatRequest, config: ProviderConfig, hints: ModelHints) -> Written:
    """A repaired copy of the transcript, and only fields that mean something.

    Raises UsageError when a tool is demanded that is not offered.
    """
    facts = facts_of(config.model)
    system, rest = _split(repair(request.messages if hints.tools else text_only(request.messages)))
    written = turns(rest, _reader(config, hints, facts))
    offered = offer(request, hints, facts, called_tools(written))
    limit, thinking = _thinking(
        request, _able(facts, hints), forced=offered.forced, may=may_think(written)
    )
    body: Json = {"model": config.model, "max_tokens": limit}
    body |= {"system": system} if system else {}
    if offered.tools:
        body["tools"] = offered.tools
        body |= {"tool_choice": offered.choice} if offered.choice else {}
    body |= {"messages": written, "stream": request.streamed}
    body |= {"thinking": thinking} if thinking else {}
    body |= dict(_options(request, hints, facts, thinking))
    _mark(body)
    if not (facts.bound and thinks(written) and thinking.get("type") == "adaptive"):
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


def _able(facts: Facts, hints: ModelHints) -> Facts:
    """What is left where a server refused to be told how to think."""
    refused = facts.signed and not hints.effort
    return replace(facts, thinking="none") if refused else facts


def _thinking(request: ChatRequest, facts: Facts, *, forced: bool, may: bool) -> tuple[int, Json]:
    """The limit of the answer, thinking included, and how to think. ``forced``: a tool must be
    called, which allows no thinking; ``may``: the transcript allows a budget of it.
    """
    style = facts.thinking
    if forced and style == "default":
        return _limit(request, facts, 0), {"type": "disabled"}
    asked = request.effort is not None or style in ("default", "always")
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
    output = dict(_output(request, hints, facts, thinking))
    if output:
        yield "output_config", output


def _output(
    request: ChatRequest, hints: ModelHints, facts: Facts, thinking: Json
) -> Iterator[tuple[str, Any]]:
    if request.effort and thinking.get("type") == "adaptive":
        yield "effort", "low" if request.effort == "minimal" else request.effort
    form = answer_form(request, hints, facts)
    if form is not None:
        yield "format", {"type": "json_schema", "schema": form}


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
