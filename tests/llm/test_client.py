from __future__ import annotations

import json
from contextlib import aclosing
from typing import Any, Literal

import pytest
from pydantic import BaseModel, Field

from octo_lab.core.errors import BadRequest, ProviderError, StreamCut, UsageError
from octo_lab.core.messages import Message, OneTool, ToolCall, ToolSpec, Usage
from octo_lab.core.stream import Done, TextDelta, UsageReported
from octo_lab.llm.answer import Answer
from octo_lab.llm.client import ChatConfig, LlmClient
from octo_lab.llm.http import ModelHttp
from octo_lab.testing.llm_script import call, calls, fails, says
from octo_lab.testing.llm_server import LlmServer
from tests.llm.metering.asking import lab

pytestmark = pytest.mark.anyio

USAGE = Usage(input_tokens=10, output_tokens=5, requests=1)
TOOL = ToolSpec(name="look", description="looks", schema={"type": "object"})
SCHEMA = {
    "type": "object",
    "properties": {"city": {"type": "string"}, "people": {"type": "integer", "minimum": 1}},
    "required": ["city", "people"],
    "additionalProperties": False,
}
AGAIN = (
    "Answer again with one JSON value that fits this JSON Schema, and nothing else:\n"
    f"{json.dumps({**SCHEMA, 'title': 'answer'})}"
)
ROME = {"city": "Rome", "people": 5}


class City(BaseModel):
    """A place."""

    city: str
    people: int = Field(ge=1)
    kind: Literal["old", "new"] = "old"


@pytest.fixture
def client(server: LlmServer, http: ModelHttp) -> LlmClient:
    return LlmClient(lab(server, http))


def said(server: LlmServer, request: int = -1) -> list[tuple[str, str]]:
    return [(m["role"], m["content"]) for m in server.requests[request].body["messages"]]


async def test_a_prompt_gives_text_asked_as_the_config_says(
    server: LlmServer, client: LlmClient
) -> None:
    server.script(says("Hel", "lo"))
    assert await client.generate("hi") == "Hello"
    body = server.requests[0].body
    assert said(server) == [("user", "hi")]
    assert (body["max_tokens"], body["temperature"]) == (4096, 0.0)


async def test_a_conversation_with_tools_gives_message_usage_and_reason(
    server: LlmServer, client: LlmClient
) -> None:
    server.script(calls(call("look", id="c1", at="x"), text=["Let me see."]))
    messages = [Message(role="system", content="be brief"), Message(role="user", content="hi")]
    answer = await client.generate_with(
        messages, [TOOL], tool_choice=OneTool("look"), max_tokens=9, stop=("END",)
    )
    assert answer == Answer(
        message=Message(
            role="assistant",
            content="Let me see.",
            tool_calls=(ToolCall(id="c1", name="look", arguments='{"at": "x"}'),),
        ),
        usage=USAGE,
        reason="tool_use",
    )
    body = server.requests[0].body
    assert (body["max_tokens"], body["stop"]) == (9, ["END"])
    assert body["tool_choice"]["function"] == {"name": "look"}
    assert client.config == ChatConfig()


async def test_a_field_that_is_no_config_is_refused(client: LlmClient) -> None:
    with pytest.raises(TypeError, match="max_token"):
        await client.generate_with([], max_token=5)


async def test_another_config_leaves_the_first_client_alone(
    server: LlmServer, client: LlmClient
) -> None:
    other = client.with_config(ChatConfig(max_tokens=7, temperature=None))
    await other.generate("hi")
    await client.generate("hi")
    bodies = [request.body for request in server.requests]
    assert [body["max_tokens"] for body in bodies] == [7, 4096]
    assert ["temperature" in body for body in bodies] == [False, True]


async def test_a_stream_gives_each_event(server: LlmServer, client: LlmClient) -> None:
    server.script(says("a", "b"), says("c"))
    async with aclosing(client.stream("hi")) as stream:
        assert [event async for event in stream] == [
            TextDelta("a"),
            TextDelta("b"),
            UsageReported(USAGE),
            Done("end_turn"),
        ]
    messages = [Message(role="user", content="hi")]
    async with aclosing(client.stream_with(messages, (), ChatConfig(max_tokens=3))) as stream:
        assert await anext(stream) == TextDelta("c")
    assert server.requests[1].body["max_tokens"] == 3


async def test_an_answer_that_is_cut_is_no_answer(server: LlmServer, client: LlmClient) -> None:
    server.script(says("half", done=False, finish="", usage=None))
    with pytest.raises(StreamCut):
        await client.generate("hi")


@pytest.mark.parametrize(
    "text",
    [
        json.dumps(ROME),
        f"  {json.dumps(ROME, indent=2)}\n",
        f"```json\n{json.dumps(ROME)}\n```",
        f"Here you are:\n\n```\n{json.dumps(ROME)}\n```\nAnything else?",
        f"It is {json.dumps(ROME)}, I think.",
    ],
)
async def test_an_object_is_read_however_it_is_wrapped(
    server: LlmServer, client: LlmClient, text: str
) -> None:
    server.script(says(text))
    assert await client.generate_object("Which city?", SCHEMA, "town") == ROME
    body = server.requests[0].body
    assert body["response_format"]["json_schema"]["schema"] == {**SCHEMA, "title": "town"}
    assert said(server) == [("user", "Which city?")]


async def test_a_wrong_object_is_shown_to_the_model_with_what_is_wrong(
    server: LlmServer, client: LlmClient
) -> None:
    server.script(says("Rome"), says('{"city": "Rome", "people": 0}'), says(json.dumps(ROME)))
    assert await client.generate_object("Which city?", SCHEMA) == ROME
    told = said(server)
    assert [role for role, _ in told] == ["user", "assistant", "user", "assistant", "user"]
    assert told[1:] == [
        ("assistant", "Rome"),
        (
            "user",
            f"That does not fit: the answer holds no JSON\n{AGAIN}",
        ),
        ("assistant", '{"city": "Rome", "people": 0}'),
        (
            "user",
            f"That does not fit: $.people: 0 is less than the minimum of 1\n{AGAIN}",
        ),
    ]


async def test_after_two_repairs_the_problems_are_told(
    server: LlmServer, client: LlmClient
) -> None:
    wrong = '{"city": 1, "more": true}'
    server.script(*(says(wrong) for _ in range(3)))
    with pytest.raises(ProviderError) as raised:
        await client.generate_object("Which city?", SCHEMA, "town")
    assert raised.value.message == (
        "'lab' gave no 'town' that fits, asked 3 times: "
        "$.city: 1 is not of type 'string'; $: 'people' is a required property; "
        "$: Additional properties are not allowed ('more' was unexpected)"
    )
    assert len(server.requests) == 3


async def test_an_object_cut_at_the_limit_is_not_asked_for_again(
    server: LlmServer, client: LlmClient
) -> None:
    server.script(says('{"city": "Ro', finish="length"))
    with pytest.raises(ProviderError, match="cut at 4096 tokens"):
        await client.generate_object("Which city?", SCHEMA)
    assert len(server.requests) == 1


async def test_a_server_that_knows_no_schemas_is_asked_in_words(
    server: LlmServer, client: LlmClient
) -> None:
    refusal = fails(400, "response_format is not supported")
    server.script(refusal, refusal, says(json.dumps(ROME)))
    assert await client.generate_object("Which city?", SCHEMA) == ROME
    body = server.requests[-1].body
    assert "response_format" not in body
    assert "additionalProperties" in json.dumps(body["messages"])


async def test_another_refusal_is_an_error(server: LlmServer, client: LlmClient) -> None:
    server.script(fails(400, "bad picture"))
    with pytest.raises(BadRequest):
        await client.generate_object("Which city?", SCHEMA)
    assert len(server.requests) == 1


@pytest.mark.parametrize(
    ("schema", "words"),
    [
        ({"type": "city"}, "no JSON Schema"),
        ({"$ref": "http://127.0.0.1:9/schema.json"}, "is not in it"),
    ],
)
async def test_a_schema_that_cannot_be_checked_is_refused(
    server: LlmServer, client: LlmClient, schema: dict[str, Any], words: str
) -> None:
    server.script(says("{}"))
    with pytest.raises(UsageError, match=words):
        await client.generate_object("Which city?", schema)


async def test_a_typed_answer_is_an_instance(server: LlmServer, client: LlmClient) -> None:
    server.script(says('{"city": "Rome", "people": 0, "kind": "odd"}'), says(json.dumps(ROME)))
    assert await client.generate_typed("Which city?", City) == City(city="Rome", people=5)
    assert said(server)[2][1].startswith(
        "That does not fit: $.people: Input should be greater than or equal to 1; "
        "$.kind: Input should be 'old' or 'new'\n"
    )
    schema = server.requests[0].body["response_format"]["json_schema"]["schema"]
    assert (schema["title"], sorted(schema["properties"])) == ("City", ["city", "kind", "people"])
