from __future__ import annotations

import base64
import gzip
import json
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import anyio
import anyio.to_thread
import pytest

from octo_lab.core.errors import (
    AuthRejected,
    BadRequest,
    CassetteMismatch,
    ConfigError,
    ProviderError,
    RateLimited,
    StreamCut,
)
from octo_lab.core.messages import ChatRequest, Message, ToolCall
from octo_lab.core.stream import Done, StreamEvent, TextDelta, ToolCalled
from octo_lab.llm.asked import Dialect, comparable, digest
from octo_lab.llm.cassette import Cassette, CassetteHeader, read_cassette
from octo_lab.llm.http import HttpCall, ModelHttp
from octo_lab.llm.provider_config import ProviderConfig
from octo_lab.llm.registry import replay_model
from octo_lab.llm.secret import Secret
from octo_lab.llm.wires.chat.wire import CHAT
from octo_lab.llm.wires.dialects import DIALECTS
from octo_lab.llm.wires.streaming import Streaming
from octo_lab.llm.wires.wire import Wire
from octo_lab.testing.llm_script import Turn, call, calls, fails, says
from octo_lab.testing.llm_server import LlmServer

KEY = Secret("lab-key-0123456789")
pytestmark = pytest.mark.anyio


def ask(text: str) -> ChatRequest:
    system = Message(role="system", content="You are octo.")
    return ChatRequest(messages=[system, Message(role="user", content=text)])


def live(
    server: LlmServer, http: ModelHttp, wire: Wire = CHAT, *, name: str = "lab", model: str = "m"
) -> Streaming:
    config = ProviderConfig(
        name=name, model=model, http=http, base_url=server.base_url, api_key=KEY
    )
    return Streaming(config, wire)


async def events(provider: Streaming, request: ChatRequest) -> list[StreamEvent]:
    return [event async for event in provider.stream(request)]


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "demo.json"


def write(path: Path, text: str) -> None:
    path.write_text(text, encoding="utf-8")


def text_of(path: Path) -> str:
    return path.read_text(encoding="utf-8")


async def loaded(path: Path) -> Cassette:
    return await anyio.to_thread.run_sync(read_cassette, path)


async def replayed(path: Path, *requests: ChatRequest) -> list[list[StreamEvent]]:
    """The answers of a new client that has no server and no key."""
    async with ModelHttp() as http:
        choice = replay_model(await http.replay(path), http)
        provider = choice.entry.open(choice.config)
        return [[event async for event in provider.stream(request)] for request in requests]


async def test_a_recorded_dialogue_is_replayed_event_for_event(
    server: LlmServer, http: ModelHttp, path: Path
) -> None:
    server.script(says("Hel", "lo \U0001f419"), calls(call("read_file", path="a")))
    await http.record(path)
    told = [await events(live(server, http), ask(text)) for text in ("one", "two")]
    assert await replayed(path, ask("one"), ask("two")) == told
    assert len(server.requests) == 2


every_dialect = pytest.mark.parametrize("dialect", sorted(DIALECTS))


@every_dialect
async def test_every_dialect_is_recorded_and_replayed_with_its_failures(
    server: LlmServer, http: ModelHttp, path: Path, dialect: Dialect
) -> None:
    turns = [calls(call("f", path="a"), text=("Hel", "lo")), says("x", cut=20), fails(429, "slow")]
    server.script(*turns)
    await http.record(path)
    provider = live(server, http, DIALECTS[dialect])
    told = await events(provider, ask("one"))
    for error in (StreamCut, RateLimited):
        with pytest.raises(error):
            await events(provider, ask(error.__name__))
    made = next(event.call for event in told if isinstance(event, ToolCalled))
    later = answered(replace(made, id="call_of_another_day"))
    answer = await events(provider, answered(made))
    kept = await loaded(path)
    assert kept.header.dialect == dialect
    assert [exchange.cut for exchange in kept.exchanges] == [False, True, False, False]
    assert await replayed(path, ask("one"), later) == [told, answer]
    for error in (StreamCut, RateLimited):
        with pytest.raises(error):
            await replayed(path, ask(error.__name__))


def answered(made: ToolCall) -> ChatRequest:
    asked = ask("read a")
    answer = Message(role="tool", content="A", tool_call_id=made.id, tool_name=made.name)
    return ChatRequest(
        messages=[*asked.messages, Message(role="assistant", tool_calls=(made,)), answer]
    )


async def test_equal_traffic_is_an_equal_file_however_the_network_cuts_it(
    server: LlmServer, http: ModelHttp, tmp_path: Path
) -> None:
    texts = []
    for split in (None, 1, 7, 1000):
        path = tmp_path / f"{split}.json"
        server.script(says("Hel", "lo", split=split))
        await http.record(path)
        await events(live(server, http), ask("one"))
        texts.append(await anyio.Path(path).read_bytes())
    assert len(set(texts)) == 1


@pytest.mark.parametrize("split", [None, 1])
async def test_a_key_that_a_server_repeats_is_scrubbed_in_any_form(
    server: LlmServer, http: ModelHttp, path: Path, split: int | None
) -> None:
    key = Secret('lab/key"0123456789')
    coded = base64.b64encode(key.reveal().encode()).decode()
    words = f"bad key {key.reveal()}, lab%2Fkey%220123456789, {coded}"
    server.script(fails(401, words, split=split))
    await http.record(path)
    provider = live(server, http)
    bad = Streaming(replace(provider.config, api_key=key), CHAT)
    with pytest.raises(AuthRejected):
        await events(bad, ask("one"))
    text = text_of(path)
    assert "0123456789" not in text
    assert coded.rstrip("=") not in text
    assert text.count("[key]") == 3


async def test_several_models_share_a_cassette(
    server: LlmServer, http: ModelHttp, path: Path
) -> None:
    server.script(fails(429, "slow"), says("from b"))
    await http.record(path)
    with pytest.raises(RateLimited):
        await events(live(server, http), ask("one"))
    told = await events(live(server, http, name="other", model="b"), ask("one"))
    async with ModelHttp() as other:
        await other.replay(path)
        with pytest.raises(RateLimited):
            await events(live(server, other), ask("one"))
        assert await events(live(server, other, name="other", model="b"), ask("one")) == told


async def test_answers_are_kept_in_the_order_of_the_questions(
    server: LlmServer, http: ModelHttp, path: Path
) -> None:
    server.script(says("slow", wait=0.2), says("fast"))
    await http.record(path)
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(events, live(server, http), ask("one"))
        await anyio.to_thread.run_sync(server.wait_until, lambda: bool(server.requests), 5.0)
        tasks.start_soon(events, live(server, http), ask("two"))
    kept = [exchange.asked["messages"][0]["content"] for exchange in (await loaded(path)).exchanges]
    assert kept == ["one", "two"]


async def test_a_packed_answer_is_recorded_unpacked(
    server: LlmServer, http: ModelHttp, path: Path
) -> None:
    body = b'data: {"choices":[{"delta":{"content":"hi"},"finish_reason":"stop"}]}\n\n'
    server.script(Turn(raw=gzip.compress(body), headers={"content-encoding": "gzip"}))
    await http.record(path)
    told = await events(live(server, http), ask("one"))
    assert told == [TextDelta("hi"), Done("end_turn")]
    assert await replayed(path, ask("one")) == [told]


async def test_other_posts_are_kept_too(server: LlmServer, http: ModelHttp, path: Path) -> None:
    vectors = b'{"data": [{"embedding": [1.0]}]}'
    server.script(Turn(raw=vectors, headers={"content-type": "application/json"}))
    await http.record(path)
    asked = HttpCall(
        provider="lab",
        model="m",
        url=f"{server.base_url}/chat/completions",
        body=body({"role": "user", "content": "x"}, stream=True),
    )
    embed = replace(asked, url=f"{server.base_url}/embeddings", body=b'{"input": "x"}')
    speak = replace(asked, url=f"{server.base_url}/audio/transcriptions", body=b"--b1\r\n\0\xff")
    for call_ in (asked, embed, speak):
        await posted(http, call_)
    async with ModelHttp() as other:
        await other.replay(path)
        assert await posted(other, asked) == vectors
        answer_it = replace(embed, url=f"{server.base_url}/responses")
        assert b"not the recorded one" in await posted(other, answer_it)
        assert b"Invalid URL" in await posted(other, embed)
        assert b"Invalid URL" in await posted(other, replace(speak, body=b"--c2\r\n\0\xff"))


async def posted(http: ModelHttp, call: HttpCall) -> bytes:
    try:
        async with http.stream(call) as reply:
            return b"".join([part async for part in reply.parts])
    except ProviderError as exc:
        return str(exc).encode()


async def test_a_cassette_of_the_first_version_is_still_played(path: Path) -> None:
    asked = {"model": "m", "messages": [{"role": "user", "content": "one"}]}
    parts = ['data: {"choices":[{"delta":{"content":"hi"},', '"finish_reason":"stop"}]}\n\n']
    header = {"tool": "octo_lab 0.1.0", "recorded": "2026-11-30", "provider": "lab"}
    exchange = {
        "path": "/v1/chat/completions",
        "digest": "8c60fa823be3e3a83b4a89c83dabc246",
        "asked": asked,
        "status": 200,
        "headers": {"content-type": "text/event-stream"},
        "parts": parts,
    }
    document = {
        "octo_cassette": 1,
        "header": {**header, "model": "m", "host": "loopback"},
        "exchanges": [exchange],
    }
    write(path, json.dumps(document))
    assert await replayed(path, ask("one")) == [[TextDelta("hi"), Done("end_turn")]]


async def test_the_header_says_what_was_recorded(
    server: LlmServer, http: ModelHttp, path: Path
) -> None:
    await http.record(path)
    await events(live(server, http), ask("one"))
    header = (await loaded(path)).header
    assert header == CassetteHeader(
        tool="octo_lab 0.1.0",
        recorded=header.recorded,
        provider="lab",
        model="m",
        host="loopback",
        dialect="chat",
    )
    assert len(header.recorded) == len("2026-01-01")


async def test_the_file_holds_no_key(server: LlmServer, http: ModelHttp, path: Path) -> None:
    other = "sk-proj-0123456789abcdefghij"
    server.script(says(f"your key is {KEY.reveal()}, theirs {other}"))
    await http.record(path)
    await events(live(server, http), ask(f"what is {other}?"))
    text = text_of(path)
    assert KEY.reveal() not in text
    assert other not in text
    assert "authorization" not in text.lower()
    assert (await replayed(path, ask(f"what is {other}?")))[0][-1] == Done("end_turn")


async def test_a_key_that_is_spelled_over_two_events_is_in_no_cassette(
    server: LlmServer, http: ModelHttp, path: Path
) -> None:
    key = KEY.reveal()
    server.script(says(f"your key is {key[:9]}", key[9:], "."))
    await http.record(path)
    await events(live(server, http), ask("my key?"))
    assert not [half for half in (key[:9], key[9:]) if half in text_of(path)]
    told = (await replayed(path, ask("my key?")))[0]
    assert "".join(each.text for each in told if isinstance(each, TextDelta)) == "your key is ***."


async def test_a_secret_of_the_person_that_a_server_says_is_in_no_cassette(
    server: LlmServer, path: Path
) -> None:
    secret = 'my/own"secret+77'
    server.script(says(f"it is {secret[:5]}", secret[5:], "."), says(secret), fails(400, secret))
    async with ModelHttp(secrets=[secret]) as http:
        await http.record(path)
        for text in ("one", "two"):
            await events(live(server, http), ask(text))
        with pytest.raises(BadRequest):
            await events(live(server, http), ask("three"))
    assert not [part for part in (secret[:5], secret[5:9], "secret+77") if part in text_of(path)]


async def test_another_question_is_a_mismatch_that_shows_the_difference(
    server: LlmServer, http: ModelHttp, path: Path
) -> None:
    await http.record(path)
    await events(live(server, http), ask("the capital of France?"))
    with pytest.raises(CassetteMismatch) as caught:
        await replayed(path, ask("the capital of Spain?"))
    assert '-   "content": "the capital of France?"' in str(caught.value)
    assert '+   "content": "the capital of Spain?"' in str(caught.value)


async def test_equal_questions_get_their_answers_in_order_and_then_the_last_again(
    server: LlmServer, http: ModelHttp, path: Path
) -> None:
    server.script(says("1"), says("2"))
    await http.record(path)
    for _ in range(2):
        await events(live(server, http), ask("same"))
    answers = await replayed(path, ask("same"), ask("same"), ask("same"))
    assert [answer[0] for answer in answers] == [TextDelta("1"), TextDelta("2"), TextDelta("2")]


async def test_an_empty_rest_says_so(server: LlmServer, http: ModelHttp, path: Path) -> None:
    await http.record(path)
    await events(live(server, http), ask("one"))
    with pytest.raises(CassetteMismatch, match="no further answer"):
        await replayed(path, ask("one"), ask("other"))


async def test_failures_are_replayed_as_failures(
    server: LlmServer, http: ModelHttp, path: Path
) -> None:
    server.script(fails(429, "slow", headers={"retry-after": "9"}), says("Hello", cut=200))
    await http.record(path)
    with pytest.raises(RateLimited):
        await events(live(server, http), ask("one"))
    with pytest.raises(StreamCut):
        await events(live(server, http), ask("two"))
    with pytest.raises(RateLimited) as caught:
        await replayed(path, ask("one"))
    assert caught.value.retry_after == 9
    with pytest.raises(StreamCut):
        await replayed(path, ask("two"))


async def test_bytes_cut_inside_a_character_come_back_as_they_were(
    server: LlmServer, http: ModelHttp, path: Path
) -> None:
    server.script(Turn(text=["\U0001f419"], split=1, delay=None))
    await http.record(path)
    told = await events(live(server, http), ask("one"))
    parts = (await loaded(path)).exchanges[0].parts
    assert b"".join(parts).count("\U0001f419".encode()) + b"".join(parts).count(b"\\ud83d") == 1
    assert await replayed(path, ask("one")) == [told]


async def test_live_ends_the_replay(server: LlmServer, http: ModelHttp, path: Path) -> None:
    await http.record(path)
    await events(live(server, http), ask("one"))
    await http.replay(path)
    assert http.replaying
    http.live()
    assert (await events(live(server, http), ask("new")))[0] == TextDelta("echo:")
    assert len((await loaded(path)).exchanges) == 1


HEAD = {"tool": "t", "recorded": "r", "provider": "lab", "model": "m", "host": "named"}
EXCHANGE = {"path": "/v1", "digest": "d", "asked": {}, "status": 200, "headers": {}, "parts": []}


def edited(*, header: Mapping[str, Any] = HEAD, **exchange: object) -> str:
    return json.dumps(
        {"octo_cassette": 2, "header": header, "exchanges": [{**EXCHANGE, **exchange}]}
    )


@pytest.mark.parametrize(
    "content",
    [
        *(None, "", "[]", "{}", "no json", '{"octo_cassette": 3}', "[" * 100_000),
        edited(header={**HEAD, "provider": 5}),
        edited(header={**HEAD, "model": None}),
        edited(status="200"),
        edited(headers={"content-type": 5}),
        edited(path=5),
        edited(parts=[5]),
    ],
)
async def test_what_is_no_cassette_is_one_clear_error(
    http: ModelHttp, path: Path, content: str | None
) -> None:
    if content is not None:
        write(path, content)
    with pytest.raises(ConfigError, match=r"demo\.json"):
        await http.replay(path)


async def test_a_file_that_is_no_cassette_is_never_overwritten(http: ModelHttp, path: Path) -> None:
    write(path, "my notes")
    with pytest.raises(ConfigError, match="is no cassette"):
        await http.record(path)
    assert text_of(path) == "my notes"


async def test_a_folder_that_is_missing_is_named(http: ModelHttp, tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="No folder"):
        await http.record(tmp_path / "none" / "demo.json")


def body(*messages: dict[str, Any], **more: Any) -> bytes:
    return json.dumps({"model": "m", "messages": list(messages), **more}).encode()


def dialogue(id: str, when: str, system: str) -> bytes:
    made = {"id": id, "type": "function", "function": {"name": "f", "arguments": "{}"}}
    return body(
        {"role": "system", "content": system},
        {"role": "user", "content": f"asked {when}"},
        {"role": "assistant", "content": None, "tool_calls": [made]},
        {"role": "tool", "tool_call_id": id, "content": "ok"},
    )


def test_ids_times_system_prompt_and_tools_are_not_compared() -> None:
    one = dialogue("call_1", "2026-11-30T22:52:26Z", "version 1")
    two = dialogue("call_9", "2027-01-02 03:04:05.678", "version 2")
    assert digest(comparable(one)) == digest(comparable(two))
    assert digest(comparable(body(tools=[{"a": 1}]))) == digest(comparable(body()))


@pytest.mark.parametrize(
    "other",
    [
        body({"role": "user", "content": "hello"}),
        body({"role": "user", "content": "hi"}, {"role": "user", "content": "hi"}),
        json.dumps({"model": "n", "messages": [{"role": "user", "content": "hi"}]}).encode(),
    ],
)
def test_words_order_and_model_are_compared(other: bytes) -> None:
    assert digest(comparable(body({"role": "user", "content": "hi"}))) != digest(comparable(other))
