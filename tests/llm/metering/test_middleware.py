from __future__ import annotations

from contextlib import aclosing
from itertools import count

import anyio
import pytest

from octo_lab.core.errors import BadRequest, StreamCut
from octo_lab.core.messages import Message, ToolCall, Usage
from octo_lab.core.stream import (
    Done,
    ReasoningDelta,
    StreamEvent,
    TextDelta,
    UsageReported,
)
from octo_lab.llm.answer import Answer
from octo_lab.llm.http import ModelHttp
from octo_lab.llm.metering.middleware import Asked, Layered
from octo_lab.llm.provider import collect
from octo_lab.testing.llm_script import call, calls, fails, says
from octo_lab.testing.llm_server import LlmServer
from tests.llm.metering.asking import asked, events, lab

pytestmark = pytest.mark.anyio

USAGE = Usage(input_tokens=10, output_tokens=5, requests=1)
RECORDED = Answer(
    message=Message(role="assistant", content="from before", reasoning="hm"),
    usage=USAGE,
    reason="stop_sequence",
)


class Noting:
    """Writes down what it is told; answers with ``recorded`` if it has that."""

    def __init__(self, name: str, notes: list[str], recorded: Answer | None = None) -> None:
        self.name = name
        self.notes = notes
        self.recorded = recorded
        self.asked: list[Asked] = []
        self.answers: list[Answer] = []

    def before(self, asked: Asked) -> Answer | None:
        self.notes.append(f"{self.name} before")
        self.asked.append(asked)
        return self.recorded

    def event(self, asked: Asked, event: StreamEvent) -> StreamEvent:
        self.notes.append(f"{self.name} {type(event).__name__}")
        if isinstance(event, TextDelta):
            return TextDelta(f"{event.text}{self.name}")
        return event

    def after(self, asked: Asked, answer: Answer) -> None:
        self.notes.append(f"{self.name} after")
        self.answers.append(answer)

    def on_error(self, asked: Asked, error: BaseException) -> None:
        self.notes.append(f"{self.name} {type(error).__name__}")


async def test_layers_see_a_stream_in_the_order_they_were_given(
    server: LlmServer, http: ModelHttp
) -> None:
    notes: list[str] = []
    first, second = Noting("1", notes), Noting("2", notes)
    clock = count(5.0)
    layered = Layered(lab(server, http), [first, second], clock=lambda: next(clock))
    server.script(says("a", "b"))
    assert await events(layered, asked()) == [
        TextDelta("a12"),
        TextDelta("b12"),
        UsageReported(USAGE),
        Done("end_turn"),
    ]
    kinds = ["TextDelta", "TextDelta", "UsageReported", "Done"]
    assert notes == [
        "1 before",
        "2 before",
        *(f"{n} {kind}" for kind in kinds for n in (1, 2)),
        "1 after",
        "2 after",
    ]
    whole = Answer(
        message=Message(role="assistant", content="a12b12"), usage=USAGE, reason="end_turn"
    )
    assert (first.answers, second.answers) == ([whole], [whole])
    assert first.asked == [Asked(provider="lab", model="m", request=asked(), at=5.0)]
    assert (layered.name, layered.model) == ("lab", "m")


async def test_after_is_told_calls_and_reasoning(server: LlmServer, http: ModelHttp) -> None:
    layer = Noting("", [])
    server.script(calls(call("look", id="c1", at=1), text=["see"], reasoning=["hm"]))
    message, usage = await collect(Layered(lab(server, http), [layer]).stream(asked()))
    made = ToolCall(id="c1", name="look", arguments='{"at": 1}')
    assert (message.content, message.reasoning, message.tool_calls) == ("see", "hm", (made,))
    assert layer.answers == [Answer(message=message, usage=usage, reason="tool_use")]


async def test_a_layer_that_has_the_answer_spares_the_rest(
    server: LlmServer, http: ModelHttp
) -> None:
    notes: list[str] = []
    layers = [Noting("1", notes), Noting("2", notes, RECORDED), Noting("3", notes)]
    told = await events(Layered(lab(server, http), layers), asked())
    assert told == [
        ReasoningDelta("hm"),
        TextDelta("from before12"),
        UsageReported(Usage()),
        Done("stop_sequence"),
    ]
    assert not [note for note in notes if note.startswith("3")]
    assert notes[-2:] == ["1 after", "2 after"]
    assert server.requests == []


async def test_an_error_is_told_to_each_layer_and_goes_on(
    server: LlmServer, http: ModelHttp
) -> None:
    notes: list[str] = []
    layered = Layered(lab(server, http), [Noting("1", notes), Noting("2", notes)])
    server.script(fails(400, "no"))
    with pytest.raises(BadRequest):
        await events(layered, asked())
    assert notes == ["1 before", "2 before", "1 BadRequest", "2 BadRequest"]


async def test_an_answer_that_is_cut_has_no_after(server: LlmServer, http: ModelHttp) -> None:
    notes: list[str] = []
    server.script(says("a", done=False, finish="", usage=None))
    with pytest.raises(StreamCut):
        await events(Layered(lab(server, http), [Noting("1", notes)]), asked())
    assert notes == ["1 before", "1 TextDelta", "1 StreamCut"]


async def test_a_reader_who_leaves_early_closes_the_connection_and_is_told_of(
    server: LlmServer, http: ModelHttp
) -> None:
    notes: list[str] = []
    server.script(says("a", hang=True, done=False, finish="", usage=None))
    async with aclosing(Layered(lab(server, http), [Noting("1", notes)]).stream(asked())) as stream:
        assert await anext(stream) == TextDelta("a1")
    assert notes == ["1 before", "1 TextDelta", "1 GeneratorExit"]
    assert await anyio.to_thread.run_sync(server.wait_until, lambda: bool(server.disconnects))


async def test_a_reader_who_leaves_at_done_has_left_nothing_out(
    server: LlmServer, http: ModelHttp
) -> None:
    notes: list[str] = []
    async with aclosing(Layered(lab(server, http), [Noting("1", notes)]).stream(asked())) as stream:
        async for event in stream:
            if isinstance(event, Done):
                break
    assert notes[-2:] == ["1 Done", "1 after"]


async def test_streams_at_once_do_not_mix(server: LlmServer, http: ModelHttp) -> None:
    layer = Noting("", [])
    layered = Layered(lab(server, http), [layer])
    async with anyio.create_task_group() as tasks:
        for n in range(20):
            tasks.start_soon(events, layered, asked(f"number {n}"))
    said = {answer.text for answer in layer.answers}
    assert said == {f"echo: number {n}" for n in range(20)}
