"""The model when there is none: understands simple requests and answers through real tools."""

from __future__ import annotations

import json
import re
from collections.abc import AsyncGenerator, Sequence
from itertools import pairwise
from typing import Any

import anyio
import anyio.to_thread

from octo_lab.core.errors import BadRequest
from octo_lab.core.messages import ChatRequest, Message, ToolCall, Usage
from octo_lab.core.remarks import without_remarks
from octo_lab.core.stream import Done, StreamEvent, TextDelta, ToolCalled, UsageReported
from octo_lab.llm.entry import ProviderEntry
from octo_lab.llm.offline.plan import Planner
from octo_lab.llm.offline.steps import Call, Result, Step, Turn
from octo_lab.llm.offline.understanding import Understanding
from octo_lab.llm.provider_config import ProviderConfig
from octo_lab.llm.tokens import estimate_tokens, message_tokens

NAME = "offline"
MODEL = "helper"
_OF_NOTEBOOKS = "lives in the Jupyter kernel"  # the system prompt says it nowhere else
_PIECE = re.compile(r"\s*\S+\s*")
_loading = anyio.Lock()
_planners: list[Planner] = []


class Offline:
    """Answers with the tools of the request; the same request gets the same answer."""

    name = NAME

    def __init__(self, config: ProviderConfig) -> None:
        self.model = config.model

    async def stream(self, request: ChatRequest) -> AsyncGenerator[StreamEvent, None]:
        """One step: a call, or words. Sampling options mean nothing here and are ignored."""
        if request.response_schema is not None:
            raise BadRequest(
                "The offline model cannot answer in a given JSON schema",
                hint="set OPENAI_API_KEY to connect a language model, or name one with -m",
            )
        planner = await _planner()
        step = await anyio.to_thread.run_sync(_next_step, planner, request)
        written = ""
        if isinstance(step, Call):
            call = _tool_call(step, request.messages)
            written = call.name + call.arguments
            yield ToolCalled(call)
        else:
            written = step.text
            for match in _PIECE.finditer(written):
                yield TextDelta(match[0])
                await anyio.lowlevel.checkpoint()
        yield UsageReported(_usage(request, written))
        yield Done("tool_use" if isinstance(step, Call) else "end_turn")


async def _planner() -> Planner:
    """The one planner of this process, made at the first request: then kept."""
    async with _loading:
        if not _planners:
            understanding = await anyio.to_thread.run_sync(Understanding)
            _planners.append(Planner(understanding=understanding))
    return _planners[0]


def _next_step(planner: Planner, request: ChatRequest) -> Step:
    *before, (text, done) = _turns(request.messages)
    earlier = before[-1][1] if before else ()
    turn = Turn(
        tools=request.tools if request.tool_choice != "none" else (),
        done=done,
        earlier=tuple(result.call for result in earlier if not result.failed),
        has_kernel=_has_kernel(request),
    )
    return planner.next(text, turn)


def _has_kernel(request: ChatRequest) -> bool:
    """Which tools there are does not tell: a turn may leave those of the kernel out."""
    return any(one.role == "system" and _OF_NOTEBOOKS in one.content for one in request.messages)


def _turns(messages: Sequence[Message]) -> list[tuple[str, tuple[Result, ...]]]:
    """What was asked in each turn, and the calls made for it with their results."""
    starts = [at for at, one in enumerate(messages) if one.role == "user"]
    parts = [messages[at:end] for at, end in pairwise([*starts, len(messages)])]
    asked = [(without_remarks(part[0].content), _results(part)) for part in parts[-2:]]
    return asked or [("", ())]


def _results(messages: Sequence[Message]) -> tuple[Result, ...]:
    calls = {call.id: call for message in messages for call in message.tool_calls}
    answers = [one for one in messages if one.tool_call_id in calls]
    return tuple(_result(calls[one.tool_call_id], one) for one in answers)


def _result(call: ToolCall, message: Message) -> Result:
    made = Call(tool=call.name, arguments=_arguments(call.arguments))
    return Result(call=made, text=message.content, outcome=message.outcome)


def _arguments(text: str) -> dict[str, Any]:
    """Of an earlier turn they may be another model's, and no JSON object."""
    try:
        arguments = json.loads(text)
    except ValueError:
        return {}
    return arguments if isinstance(arguments, dict) else {}


def _tool_call(step: Call, messages: Sequence[Message]) -> ToolCall:
    """Numbered through the whole conversation, so that no two calls share an id."""
    number = sum(len(message.tool_calls) for message in messages) + 1
    arguments = json.dumps(step.arguments, ensure_ascii=False)
    return ToolCall(id=f"offline_{number}", name=step.tool, arguments=arguments)


def _usage(request: ChatRequest, written: str) -> Usage:
    read = sum(message_tokens(message) for message in request.messages)
    return Usage(input_tokens=read, output_tokens=estimate_tokens(written), requests=1)


ENTRY = ProviderEntry(name=NAME, default_model=MODEL, needs_key=False, create=Offline)
