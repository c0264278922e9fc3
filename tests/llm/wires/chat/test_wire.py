from __future__ import annotations

import json
from contextlib import aclosing

import anyio
import pytest

from octo_lab.core.errors import (
    AuthRejected,
    BadRequest,
    ConfigError,
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
from octo_lab.core.stream import Done, StreamEvent, TextDelta, UsageReported
from octo_lab.llm.http import HttpTimeouts, ModelHttp
from octo_lab.llm.provider import collect
from octo_lab.llm.provider_config import ProviderConfig
from octo_lab.llm.resilience.retry import Retrying
from octo_lab.llm.secret import Secret
from octo_lab.llm.wires import streaming
from octo_lab.llm.wires.chat.wire import CHAT, PATH
from octo_lab.llm.wires.streaming import Streaming
from octo_lab.testing.llm_script import Turn, call, calls, fails, says
from octo_lab.testing.llm_server import LlmServer

pytestmark = pytest.mark.anyio

KEY = Secret("sk-test-0123456789abcdef")
TOOL = ToolSpec(name="read_file", description="reads", schema={"type": "object"})
REQUEST = ChatRequest(messages=[Message(role="user", content="hi there")], tools=[TOOL])
USAGE = Usage(input_tokens=10, output_tokens=5, requests=1)


def provider(server: LlmServer, http: ModelHttp, key: Secret | None = KEY) -> Streaming:
    return Streaming(
        ProviderConfig(name="lab", model="m", http=http, base_url=server.base_url, api_key=key),
        CHAT,
    )


async def events(made: Streaming) -> list[StreamEvent]:
    async with aclosing(made.stream(REQUEST)) as stream:
        return [event async for event in stream]


async def test_text_arrives_in_its_pieces(server: LlmServer, http: ModelHttp) -> None:
    server.script(says("Hel", "lo"))
    assert await events(provider(server, http)) == [
        TextDelta("Hel"),
        TextDelta("lo"),
        UsageReported(USAGE),
        Done("end_turn"),
    ]


async def test_the_request_carries_key_model_and_tools(server: LlmServer, http: ModelHttp) -> None:
    await events(provider(server, http))
    received = server.requests[0]
    assert (received.path, received.headers["authorization"]) == (
        "/v1/chat/completions",
        f"Bearer {KEY.reveal()}",
    )
    assert received.body["model"] == "m"
    assert received.body["tools"][0]["function"]["name"] == "read_file"


async def test_without_a_key_no_header_is_sent(server: LlmServer, http: ModelHttp) -> None:
    await events(provider(server, http, None))
    assert "authorization" not in server.requests[0].headers


async def test_parallel_calls_reasoning_and_usage(server: LlmServer, http: ModelHttp) -> None:
    made = (call("read_file", path="a.txt"), call("read_file", id="call_2", path="b.txt"))
    server.script(
        calls(
            *made, text=["Let me look."], reasoning=["hm, ", "files"], fragment=3, usage=(7, 2, 4)
        )
    )
    message, usage = await collect(provider(server, http).stream(REQUEST))
    assert message == Message(
        role="assistant",
        content="Let me look.",
        reasoning="hm, files",
        tool_calls=tuple(ToolCall(id=c.id, name=c.name, arguments=c.arguments) for c in made),
        provider_state=ProviderState(
            provider="lab", model="m", blob='{"reasoning_content": "hm, files"}'
        ),
    )
    assert usage == Usage(input_tokens=7, output_tokens=2, cached_tokens=4, requests=1)


async def test_the_whole_dialogue_passes_the_strict_server(
    server: LlmServer, http: ModelHttp
) -> None:
    history = [
        Message(role="system", content="Be brief."),
        Message(role="user", media=(Media(mime="image/png", data=b"png"),)),
        Message(
            role="assistant", tool_calls=(ToolCall(id="a", name="read_file", arguments='{"p'),)
        ),
        Message(role="tool", tool_call_id="a", content="", outcome="error"),
        Message(role="user", content="again"),
    ]
    stream = provider(server, http).stream(ChatRequest(messages=history, tools=[TOOL]))
    message, _ = await collect(stream)
    assert (message.content, server.refused) == ("echo: again", [])


async def test_any_split_of_the_bytes_gives_the_same_answer(
    server: LlmServer, http: ModelHttp
) -> None:
    whole = Turn(
        reasoning=["gr\u00fcbel"], text=["<think>x</think>", "\u00fcber ", "\U0001f419"], delay=None
    )
    answers = []
    for split in (1, 2, 3, 7, 64, 100_000):
        server.script(Turn(reasoning=whole.reasoning, text=whole.text, delay=None, split=split))
        answers.append(await collect(provider(server, http).stream(REQUEST)))
    assert answers == [answers[0]] * 6
    assert answers[0][0].content == "\u00fcber \U0001f419"


async def test_closing_the_stream_closes_the_connection_at_once(
    server: LlmServer, http: ModelHttp
) -> None:
    server.script(says("first", hang=True))
    async with aclosing(provider(server, http).stream(REQUEST)) as stream:
        assert await anext(stream) == TextDelta("first")
    gone = await anyio.to_thread.run_sync(server.wait_until, lambda: bool(server.disconnects), 1.0)
    assert gone
    assert server.disconnects[0].request == 0


async def test_cancelling_closes_the_connection_at_once(server: LlmServer, http: ModelHttp) -> None:
    server.script(says("never", wait=30))
    with anyio.move_on_after(0.2) as scope:
        await events(provider(server, http))
    assert scope.cancelled_caught
    gone = await anyio.to_thread.run_sync(server.wait_until, lambda: bool(server.disconnects), 1.0)
    assert gone


async def test_a_finished_answer_leaves_its_connection_for_the_next(
    server: LlmServer, http: ModelHttp
) -> None:
    for _ in range(3):
        await events(provider(server, http))
    assert len({received.peer for received in server.requests}) == 1


async def test_an_answer_is_whole_at_its_finish_reason_even_if_the_server_hangs_or_dies(
    server: LlmServer, http: ModelHttp
) -> None:
    server.script(says("all", done=False, hang=True), says("all", done=False, cut=10**6))
    for _ in range(2):
        message, _ = await collect(provider(server, http).stream(REQUEST))
        assert message.content == "all"


@pytest.mark.parametrize("cut", [0, 1, 150, 300, 400])
async def test_a_cut_anywhere_before_the_end_is_a_cut(
    server: LlmServer, http: ModelHttp, cut: int
) -> None:
    server.script(says("Hello", " world", cut=cut))
    with pytest.raises(StreamCut, match="'lab'"):
        await events(provider(server, http))


async def test_an_answer_that_ends_early_without_an_error_is_a_cut_too(
    server: LlmServer, http: ModelHttp
) -> None:
    server.script(says("Hello", finish="", done=False))
    with pytest.raises(StreamCut, match="before it was whole"):
        await events(provider(server, http))


@pytest.mark.parametrize(
    ("answer", "kind", "message"),
    [
        (fails(400, "bad field"), BadRequest, "'lab' answered 400: bad field"),
        (fails(401, "bad key sk-test-0123456789abcdef"), AuthRejected, "bad key ***"),
        (fails(404, "no such model"), ModelNotFound, "no such model"),
        (fails(402, "pay"), QuotaExceeded, "pay"),
        (fails(429, "slow"), RateLimited, "slow"),
        (fails(500, "oops"), Unavailable, "oops"),
        (Turn(status=502, raw=b"<html>nginx</html>"), Unavailable, "'lab' answered 502"),
        (Turn(raw=b"data: {bad\n\n"), Unavailable, "sent what is no JSON"),
        (
            Turn(raw=b"<html>login</html>", headers={"content-type": "text/html"}),
            Unavailable,
            "no event stream, but 'text/html'",
        ),
        (
            Turn(
                raw=b'{"error": {"message": "account in arrears", "code": "Arrearage"}}',
                headers={"content-type": "application/json"},
            ),
            QuotaExceeded,
            "arrears",
        ),
    ],
)
async def test_each_failure_is_one_typed_line_without_the_key(
    server: LlmServer,
    http: ModelHttp,
    answer: Turn,
    kind: type[ProviderError],
    message: str,
) -> None:
    server.script(answer)
    with pytest.raises(kind) as caught:
        await events(provider(server, http))
    assert message in str(caught.value)
    assert KEY.reveal() not in str(caught.value)
    assert "\n" not in str(caught.value)


async def test_the_wish_of_a_busy_server_is_heard(server: LlmServer, http: ModelHttp) -> None:
    server.script(fails(429, headers={"retry-after": "7"}), says("hi"))
    waited: list[float] = []

    async def sleep(seconds: float) -> None:
        waited.append(seconds)

    message, _ = await collect(
        Retrying(provider(server, http), sleep=sleep, chance=lambda: 0.0).stream(REQUEST)
    )
    assert (message.content, waited) == ("hi", [7.0])


async def test_a_wait_that_only_the_text_names_is_kept(server: LlmServer, http: ModelHttp) -> None:
    server.script(fails(429, "Rate limit reached. Please try again in 2s."), says("hi"))
    waited: list[float] = []

    async def sleep(seconds: float) -> None:
        waited.append(seconds)

    await collect(Retrying(provider(server, http), sleep=sleep, chance=lambda: 0.0).stream(REQUEST))
    assert waited == [3.0]


async def test_a_server_that_does_not_stream_is_read_as_well(
    server: LlmServer, http: ModelHttp
) -> None:
    answer = {"choices": [{"message": {"content": "whole"}, "finish_reason": "stop"}]}
    server.script(
        Turn(raw=json.dumps(answer).encode(), headers={"content-type": "application/json"})
    )
    assert await events(provider(server, http)) == [TextDelta("whole"), Done("end_turn")]


async def test_a_server_that_is_down_is_named_with_its_address(http: ModelHttp) -> None:
    async with LlmServer() as closed:
        url = closed.base_url
    config = ProviderConfig(name="lab", model="m", http=http, base_url=url, api_key=KEY)
    with pytest.raises(Unavailable) as caught:
        await events(Streaming(config, CHAT))
    assert f"'lab' cannot be reached at '{url.removesuffix('/v1')}'" in str(caught.value)


async def test_a_silent_server_is_given_up(server: LlmServer) -> None:
    server.script(says("late", wait=30))
    async with ModelHttp(HttpTimeouts(read=0.2)) as hasty:
        with pytest.raises(Unavailable, match=r"sent nothing for 0\.2 s"):
            await events(provider(server, hasty))


@pytest.mark.parametrize(
    "url", ["ftp://host/v1", "nonsense", "http://host:port/v1", "", "me:word@host/v1"]
)
async def test_a_base_url_that_is_none_is_a_config_error(http: ModelHttp, url: str) -> None:
    config = ProviderConfig(name="lab", model="m", http=http, base_url=url)
    with pytest.raises(ConfigError, match="base URL of 'lab'") as caught:
        await events(Streaming(config, CHAT))
    assert "word" not in str(caught.value)


@pytest.mark.parametrize("key", ["sk-line\nbreak-secret", "sk-\u00fcmlaut-secret"])
async def test_a_key_that_is_none_is_a_config_error_that_hides_it(
    server: LlmServer, http: ModelHttp, key: str
) -> None:
    with pytest.raises(ConfigError) as caught:
        await events(provider(server, http, Secret(key)))
    assert "secret" not in str(caught.value)


async def test_many_streams_at_once_all_arrive(server: LlmServer, http: ModelHttp) -> None:
    texts: list[str] = []

    async def ask() -> None:
        message, _ = await collect(provider(server, http).stream(REQUEST))
        texts.append(message.content)

    async with anyio.create_task_group() as tasks:
        for _ in range(50):
            tasks.start_soon(ask)
    assert texts == ["echo: hi there"] * 50


async def test_an_event_stream_that_calls_itself_json_is_read(
    server: LlmServer, http: ModelHttp
) -> None:
    server.script(says("Hel", "lo", headers={"content-type": "application/json"}))
    assert await events(provider(server, http)) == [
        TextDelta("Hel"),
        TextDelta("lo"),
        UsageReported(USAGE),
        Done("end_turn"),
    ]


@pytest.mark.parametrize("raw", [b"", b": keep-alive\n\n", b"<html></html>"])
async def test_a_stream_without_a_chunk_is_said_to_have_ended(
    server: LlmServer, http: ModelHttp, raw: bytes
) -> None:
    server.script(Turn(raw=raw))
    with pytest.raises(Unavailable, match="'lab' ended its answer before it began"):
        await events(provider(server, http))


@pytest.mark.parametrize(
    ("base_url", "url"),
    [
        ("http://h/v1", "http://h/v1/chat/completions"),
        ("http://h/v1/", "http://h/v1/chat/completions"),
        ("http://h/v1/chat/completions", "http://h/v1/chat/completions"),
        ("http://h/v1/chat/completions/", "http://h/v1/chat/completions"),
        ("http://h/v1?api-version=2", "http://h/v1/chat/completions?api-version=2"),
        ("http://h", "http://h/chat/completions"),
    ],
)
def test_a_base_url_may_be_the_whole_address(base_url: str, url: str) -> None:
    assert streaming.endpoint(base_url, PATH) == url


async def test_a_port_that_cannot_be_is_a_mistake_of_the_user(http: ModelHttp) -> None:
    config = ProviderConfig(name="lab", model="m", http=http, base_url="http://127.0.0.1:99999/v1")
    with pytest.raises(ConfigError, match=r"is no web address: .*:99999"):
        await events(Streaming(config, CHAT))


async def test_more_tokens_than_can_be_are_not_counted(server: LlmServer, http: ModelHttp) -> None:
    server.script(says("hi", usage=(10**30, 5, 0)))
    done = await events(provider(server, http))
    assert UsageReported(Usage(output_tokens=5, requests=1)) in done


@pytest.mark.parametrize(
    "turn",
    [
        Turn(raw=b"x", headers={"content-type": "text/plain-word-key"}),
        Turn(
            events=[{"choices": [{"delta": {"refusal": "not for plain-word-key"}}]}], finish="stop"
        ),
        Turn(raw=b"data: {plain-word-key\n\n"),
        Turn(events=[{"error": {"message": "bad plain-word-key"}}]),
        fails(401, "bad plain-word-key"),
        fails(302, headers={"location": "http://h/plain-word-key"}),
    ],
    ids=["type", "refusal", "garbled", "error", "401", "redirect"],
)
async def test_a_key_that_the_server_repeats_is_never_shown(
    server: LlmServer, http: ModelHttp, turn: Turn
) -> None:
    """Nothing about this one looks like a key."""
    server.script(turn)
    with pytest.raises(ProviderError) as caught:
        await events(provider(server, http, Secret("plain-word-key")))
    assert "***" in str(caught.value)
    assert "plain-word-key" not in str(caught.value)
