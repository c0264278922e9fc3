from __future__ import annotations

import json
from contextlib import aclosing
from dataclasses import replace
from typing import Any

import anyio
import anyio.lowlevel
import pytest

from octo_lab.core.errors import (
    AuthRejected,
    BadRequest,
    ContentFiltered,
    ContextOverflow,
    ModelNotFound,
    ProviderError,
    QuotaExceeded,
    RateLimited,
    StreamCut,
    Unavailable,
)
from octo_lab.core.messages import (
    ChatRequest,
    Media,
    Message,
    ProviderState,
    ToolCall,
    ToolSpec,
    Usage,
)
from octo_lab.core.stream import Done, ReasoningDelta, StreamEvent, TextDelta, UsageReported
from octo_lab.llm.http import ModelHttp
from octo_lab.llm.model_lists import ModelLists
from octo_lab.llm.provider import collect
from octo_lab.llm.provider_config import ProviderConfig
from octo_lab.llm.providers.gemini import ENTRY
from octo_lab.llm.registry import ModelSetup, builtin_providers, resolve_model
from octo_lab.llm.resilience.retry import Retrying
from octo_lab.llm.secret import Secret
from octo_lab.llm.tool_names import alias
from octo_lab.llm.wires.gemini.contents import NO_SIGNATURE
from octo_lab.llm.wires.gemini.wire import address
from octo_lab.testing.llm_script import Turn, call, calls, fails, says
from octo_lab.testing.llm_server import LlmServer

pytestmark = pytest.mark.anyio

Json = dict[str, Any]
KEY = Secret("AIzaSyTest0123456789abcdefghijklmnopqrs")
MODEL = "gemini-2.5-flash"
SCHEMA = {"type": "object", "properties": {"path": {"$ref": "#/$defs/P"}}, "$defs": {"P": {}}}
TOOL = ToolSpec(name="read.file", description="reads", schema=SCHEMA)
HI = Message(role="user", content="hi there")
REQUEST = ChatRequest(messages=[HI], tools=[TOOL])
USAGE = Usage(input_tokens=10, output_tokens=5, requests=1)


def config(server: LlmServer, http: ModelHttp, model: str = MODEL) -> ProviderConfig:
    return ProviderConfig(
        name="gemini", model=model, http=http, base_url=server.base_url, api_key=KEY
    )


async def events(
    server: LlmServer, http: ModelHttp, request: ChatRequest = REQUEST
) -> list[StreamEvent]:
    async with aclosing(ENTRY.open(config(server, http)).stream(request)) as stream:
        return [event async for event in stream]


async def test_thoughts_and_text_arrive_in_their_pieces(server: LlmServer, http: ModelHttp) -> None:
    server.script(says("Hel", "lo", reasoning=["hm"]))
    assert await events(server, http) == [
        ReasoningDelta("hm"),
        TextDelta("Hel"),
        TextDelta("lo"),
        UsageReported(USAGE),
        Done("end_turn"),
    ]


async def test_the_key_is_in_a_header_and_never_in_the_address(
    server: LlmServer, http: ModelHttp
) -> None:
    await events(server, http)
    received = server.requests[0]
    assert received.path == f"/v1/models/{MODEL}:streamGenerateContent?alt=sse"
    assert received.headers["x-goog-api-key"] == KEY.reveal()
    assert KEY.reveal() not in json.dumps(received.body)


async def test_no_error_shows_the_key(server: LlmServer, http: ModelHttp) -> None:
    server.script(fails(400, f"API key not valid: {KEY.reveal()}"))
    with pytest.raises(AuthRejected) as caught:
        await events(server, http)
    assert KEY.reveal() not in repr(caught.value) + str(caught.value)
    lost = replace(config(server, http), base_url="http://127.0.0.1:9")
    with pytest.raises(Unavailable) as unreached:
        await collect(ENTRY.open(lost).stream(REQUEST))
    assert KEY.reveal() not in str(unreached.value)


@pytest.mark.parametrize(
    ("base", "model", "url"),
    [
        ("http://h/v1beta", "gemini-x", "http://h/v1beta/models/gemini-x"),
        ("http://h/v1beta/", "models/gemini-x", "http://h/v1beta/models/gemini-x"),
        ("http://h/v1beta", "tunedModels/mine", "http://h/v1beta/tunedModels/mine"),
        ("http://h/v1beta", "x?key=y#z", "http://h/v1beta/models/x%3Fkey%3Dy%23z"),
    ],
)
def test_the_model_is_in_the_path(base: str, model: str, url: str) -> None:
    assert address(base, model) == f"{url}:streamGenerateContent?alt=sse"


def test_a_query_of_the_base_url_is_kept() -> None:
    url = address("http://h/v1beta?a=b", "m")
    assert url == "http://h/v1beta/models/m:streamGenerateContent?a=b&alt=sse"


async def test_a_whole_dialogue_passes_the_strict_server(
    server: LlmServer, http: ModelHttp
) -> None:
    short = alias(TOOL.name)
    made = (call(short, path="a.png"), call(short, id="call_2", path="b.png"))
    server.script(calls(*made, text=["Let me look."]), says("done"))
    asked, usage = await collect(ENTRY.open(config(server, http)).stream(REQUEST))
    assert asked == Message(
        role="assistant",
        content="Let me look.",
        tool_calls=(
            ToolCall(id="call_1", name=TOOL.name, arguments='{"path":"a.png"}'),
            ToolCall(id="call_2", name=TOOL.name, arguments='{"path":"b.png"}'),
        ),
    )
    assert usage == USAGE
    picture = Media(mime="image/png", data=b"png", name="a.png")
    results = [
        Message(role="tool", tool_call_id="call_1", tool_name=TOOL.name, media=(picture,)),
        Message(role="tool", tool_call_id="call_2", tool_name=TOOL.name, outcome="denied"),
    ]
    history = [HI, asked, *results, Message(role="user", content="and?")]
    assert (await events(server, http, replace(REQUEST, messages=history)))[-1] == Done("end_turn")
    assert server.refused == []


def chunk(finish: str, *parts: Json) -> Json:
    candidate: Json = {"content": {"role": "model", "parts": list(parts)}}
    return {"candidates": [candidate | ({"finishReason": finish} if finish else {})]}


def called(id: str) -> Json:
    return {"functionCall": {"id": id, "name": "f", "args": {}}}


async def test_a_signature_on_a_closing_empty_text_goes_back_with_the_calls_before_it(
    server: LlmServer, http: ModelHttp
) -> None:
    signed = {"text": "", "thoughtSignature": "c2ln"}
    server.script(Turn(events=[chunk("", called("a"), called("b")), chunk("STOP", signed)]))
    asked, _ = await collect(ENTRY.open(config(server, http)).stream(REQUEST))
    results = [Message(role="tool", tool_call_id=id, content=id) for id in "ab"]
    await events(server, http, replace(REQUEST, messages=[HI, asked, *results]))
    assert server.refused == []
    assert server.requests[1].body["contents"][1]["parts"] == [
        {**called(id), "thoughtSignature": "c2ln"} for id in "ab"
    ]


async def test_calls_of_which_a_signature_is_missing_are_said_to_have_none(
    server: LlmServer, http: ModelHttp
) -> None:
    model = "gemini-3-flash"
    made = tuple(ToolCall(id=id, name="f", arguments="{}") for id in "ab")
    blob = '[["call","a","c2ln"],["call","b",""]]'
    state = ProviderState(provider="gemini", model=model, blob=blob)
    asked = Message(role="assistant", tool_calls=made, provider_state=state)
    results = [Message(role="tool", tool_call_id=id, content=id) for id in "ab"]
    said = "Function call is missing a thought_signature in functionCall parts."
    server.script(fails(400, said), says("well"))
    request = ChatRequest(messages=[HI, asked, *results])
    message, _ = await collect(ENTRY.open(config(server, http, model)).stream(request))
    assert message.content == "well"
    assert [sent.body["contents"][1]["parts"] for sent in server.requests] == [
        [{**called("a"), "thoughtSignature": "c2ln"}, called("b")],
        [{**called(id), "thoughtSignature": NO_SIGNATURE} for id in "ab"],
    ]


async def test_a_model_that_does_not_think_is_not_asked_to(
    server: LlmServer, http: ModelHttp
) -> None:
    server.script(fails(400, "Thinking is not enabled for this model."), says("well"))
    await events(server, http, replace(REQUEST, effort="high"))
    sent = [request.body.get("generationConfig", {}) for request in server.requests]
    assert ["thinkingConfig" in chosen for chosen in sent] == [True, False]


@pytest.mark.parametrize("spoiled", ["MALFORMED_FUNCTION_CALL", "UNEXPECTED_TOOL_CALL", "STOP"])
async def test_a_spoiled_or_empty_answer_is_asked_for_again(
    spoiled: str, server: LlmServer, http: ModelHttp
) -> None:
    server.script(Turn(finish=spoiled), says("better"))
    retrying = Retrying(ENTRY.open(config(server, http)), sleep=no_wait)
    message, _ = await collect(retrying.stream(REQUEST))
    assert (message.content, len(server.requests)) == ("better", 2)


async def no_wait(_seconds: float) -> None:
    await anyio.lowlevel.checkpoint()


async def test_a_stream_without_a_reason_to_finish_is_cut(
    server: LlmServer, http: ModelHttp
) -> None:
    server.script(says("half", finish=""))
    with pytest.raises(StreamCut):
        await events(server, http)


async def test_a_server_that_answers_with_an_array_is_read_too(
    server: LlmServer, http: ModelHttp
) -> None:
    body = json.dumps([chunk("", {"text": "a"}), chunk("STOP", {"text": "b"})]).encode()
    server.script(Turn(raw=body, headers={"content-type": "application/json"}))
    assert await events(server, http) == [TextDelta("a"), TextDelta("b"), Done("end_turn")]


def google(status: int, message: str, *details: Json) -> Turn:
    error: Json = {"code": status, "message": message, "details": list(details)}
    return Turn(status=status, raw=json.dumps({"error": error}).encode())


RETRY = {"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": "18s"}
QUOTA = "You exceeded your current quota, please check your plan and billing details."


@pytest.mark.parametrize(
    ("turn", "kind", "wait"),
    [
        (google(400, "API key not valid. Please pass a valid API key."), AuthRejected, None),
        (google(403, "Your project has been denied access."), AuthRejected, None),
        (google(404, "models/x is not found for API version v1beta"), ModelNotFound, None),
        (google(429, f"{QUOTA} Please retry in 18s.", RETRY), RateLimited, 18.0),
        (google(429, QUOTA), QuotaExceeded, None),
        (google(429, "Resource has been exhausted"), RateLimited, None),
        (
            google(
                400,
                "The input token count (1200000) exceeds the maximum number of tokens "
                "allowed (1048576).",
            ),
            ContextOverflow,
            None,
        ),
        (google(400, "Invalid value at 'contents'"), BadRequest, None),
        (google(503, "The model is overloaded. Please try again later."), Unavailable, None),
        (Turn(finish="SAFETY"), ContentFiltered, None),
    ],
    ids=lambda value: getattr(value, "__name__", None),
)
async def test_what_the_vendor_answers_has_its_kind(
    turn: Turn,
    kind: type[ProviderError],
    wait: float | None,
    server: LlmServer,
    http: ModelHttp,
) -> None:
    server.script(turn)
    with pytest.raises(ProviderError) as caught:
        await events(server, http)
    assert (type(caught.value), caught.value.retry_after) == (kind, wait)


async def test_the_models_are_those_that_generate(http: ModelHttp) -> None:
    async with LlmServer(
        models=("gemini-2.5-flash", "gemini-3-flash"), api_key=KEY.reveal()
    ) as server:
        listed = await ModelLists().of(ENTRY, config(server, http))
    assert listed == ("gemini-2.5-flash", "gemini-3-flash")


async def test_the_server_knows_key_and_models_of_the_dialect(http: ModelHttp) -> None:
    async with LlmServer(models=(MODEL,), api_key=KEY.reveal()) as server:
        assert (await events(server, http))[-1] == Done("end_turn")
        with pytest.raises(ModelNotFound):
            await collect(ENTRY.open(config(server, http, "gemini-x")).stream(REQUEST))
        stranger = replace(config(server, http), api_key=Secret("another-key-0123456789"))
        with pytest.raises(AuthRejected):
            await collect(ENTRY.open(stranger).stream(REQUEST))


@pytest.mark.parametrize("name", ["gemini", "google", "Gemini/gemini-2.5-flash", MODEL])
def test_gemini_is_found_by_its_names_and_models(name: str) -> None:
    environ = {"GOOGLE_API_KEY": "second-0123456789", "GEMINI_API_KEY": KEY.reveal()}
    choice = resolve_model(name, ModelSetup(http=ModelHttp(), environ=environ), builtin_providers())
    assert choice.name == f"gemini/{MODEL}"
    assert choice.config.base_url == "https://generativelanguage.googleapis.com/v1beta"
    assert choice.config.api_key == KEY


def test_the_key_may_be_google_s() -> None:
    environ = {"GOOGLE_API_KEY": KEY.reveal()}
    choice = resolve_model(None, ModelSetup(http=ModelHttp(), environ=environ), builtin_providers())
    assert (choice.entry.name, choice.config.api_key) == ("gemini", KEY)
