from __future__ import annotations

import base64
from collections.abc import Callable
from pathlib import Path

import numpy
import pytest

from octo_lab.core.errors import (
    AuthRejected,
    CassetteMismatch,
    ProviderError,
    RateLimited,
    TimedOut,
)
from octo_lab.llm.http import ModelHttp
from octo_lab.llm.media.asking import MediaServer
from octo_lab.llm.media.embeddings import (
    MOST_TEXTS,
    WORDS_DIMENSION,
    Embedder,
    ServerEmbedder,
    WordEmbedder,
)
from octo_lab.llm.resilience.retry import RetryPolicy
from octo_lab.llm.secret import Secret
from octo_lab.testing.http_server import Asked, HttpServer, Reply, json_reply

pytestmark = pytest.mark.anyio

KEY = Secret("sk-0123456789abcdef")
PATH = "/v1/embeddings"


def vector(text: str) -> list[float]:
    return [float(len(text)), 1.0, 0.0]


def floats(text: str) -> object:
    return vector(text)


def packed(text: str) -> object:
    return base64.b64encode(numpy.asarray(vector(text), "<f4").tobytes()).decode()


def answers(write: Callable[[str], object]) -> Callable[[Asked], Reply]:
    """As the vendor answers, but in another order."""

    def answer(asked: Asked) -> Reply:
        rows = [
            {"object": "embedding", "index": at, "embedding": write(text)}
            for at, text in enumerate(asked.json["input"])
        ]
        return json_reply({"object": "list", "data": rows[::-1], "usage": {"total_tokens": 1}})

    return answer


def server(
    running: HttpServer, http: ModelHttp, model: str = "m", seconds: float = 5
) -> MediaServer:
    return MediaServer(
        name="openai",
        model=model,
        base_url=f"{running.root}/v1",
        http=http,
        api_key=KEY,
        seconds=seconds,
        retries=RetryPolicy(max_retries=2, initial_delay=0),
    )


@pytest.mark.parametrize("write", [floats, packed])
async def test_rows_come_in_the_order_of_the_texts_and_of_length_one(
    http: ModelHttp, write: Callable[[str], object]
) -> None:
    async with HttpServer({PATH: answers(write)}) as running:
        embedder: Embedder = ServerEmbedder(server(running, http))
        rows = await embedder.embed(["a", "", "abcd", " "])

        assert running.asked[0].json == {
            "model": "m",
            "input": ["a", "abcd"],
            "encoding_format": "base64",
        }
        assert running.asked[0].headers["authorization"] == f"Bearer {KEY.reveal()}"
    wanted = numpy.array([vector("a"), [0, 0, 0], vector("abcd"), [0, 0, 0]], numpy.float32)
    wanted[[0, 2]] /= numpy.linalg.norm(wanted[[0, 2]], axis=1, keepdims=True)
    assert rows.dtype == numpy.float32
    assert numpy.allclose(rows, wanted)
    assert (embedder.name, embedder.dimension) == ("openai/m", 3)


async def test_many_texts_are_asked_in_batches(http: ModelHttp) -> None:
    texts = [f"text {number}" for number in range(2 * MOST_TEXTS + 1)]
    async with HttpServer({PATH: answers(packed)}) as running:
        rows = await ServerEmbedder(server(running, http)).embed([*texts, "x" * 300_000])

        sizes = [len(asked.json["input"]) for asked in running.asked]
    assert (sizes, rows.shape) == ([MOST_TEXTS, MOST_TEXTS, 1, 1], (len(texts) + 1, 3))


async def test_nothing_is_asked_for_nothing(http: ModelHttp) -> None:
    async with HttpServer({}) as running:
        embedder = ServerEmbedder(server(running, http, "text-embedding-3-large"))

        assert (await embedder.embed([])).shape == (0, 3072)
        assert (await embedder.embed(["", " "])).shape == (2, 3072)
        assert running.asked == []


async def test_the_dimensions_of_the_usual_models_are_known(http: ModelHttp) -> None:
    async with HttpServer({PATH: answers(floats)}) as running:
        small = ServerEmbedder(server(running, http, "text-embedding-3-small"))
        short = ServerEmbedder(server(running, http, "text-embedding-3-small"), dimension=3)
        await short.embed(["a"])

        assert (small.dimension, short.dimension) == (1536, 3)
        assert running.asked[0].json["dimensions"] == 3
        with pytest.raises(ProviderError, match="answered what is not understood"):
            await small.embed(["a"])


@pytest.mark.parametrize(
    "answer",
    [
        {"data": []},
        {"data": [{"index": 1, "embedding": [1.0]}]},
        {"data": [{"index": "0", "embedding": [1.0]}]},
        {"data": [{"embedding": "no base64!"}]},
        {"data": [{"embedding": [[1.0]]}]},
        {"data": [{"embedding": [float("nan")]}]},
        {"data": [{"embedding": []}]},
        {"data": [{"embedding": None}]},
        {"data": ["x"]},
        {"object": "list"},
        ["no object"],
    ],
)
async def test_an_odd_answer_is_a_typed_error(http: ModelHttp, answer: object) -> None:
    async with HttpServer({}, other=json_reply(answer)) as running:
        embedder = ServerEmbedder(server(running, http))
        with pytest.raises(ProviderError, match="answered what is not understood"):
            await embedder.embed(["a"])


async def test_a_wait_is_waited_and_a_refusal_is_final(http: ModelHttp) -> None:
    busy = json_reply({"error": {"message": "slow down"}}, 429)
    replies = iter([busy, busy])

    def first_busy(asked: Asked) -> Reply:
        return next(replies, None) or answers(floats)(asked)

    async with HttpServer({PATH: first_busy}) as running:
        assert (await ServerEmbedder(server(running, http)).embed(["a"])).shape == (1, 3)
        assert len(running.asked) == 3
    async with HttpServer({}, other=busy) as running:
        with pytest.raises(RateLimited):
            await ServerEmbedder(server(running, http)).embed(["a"])
        assert len(running.asked) == 3
    wrong = json_reply({"error": {"message": f"Incorrect key {KEY.reveal()}"}}, 401)
    async with HttpServer({}, other=wrong) as running:
        with pytest.raises(AuthRejected) as refused:
            await ServerEmbedder(server(running, http)).embed(["a"])
        assert len(running.asked) == 1
    assert KEY.reveal() not in str(refused.value)


async def test_silence_ends_with_a_typed_error(http: ModelHttp) -> None:
    async with HttpServer({}, other=Reply(wait=60)) as running:
        embedder = ServerEmbedder(server(running, http, seconds=0.2))
        with pytest.raises(TimedOut, match="'openai' did not answer within"):
            await embedder.embed(["a"])


async def test_a_cassette_neither_keeps_vectors_nor_lets_them_be_asked_for(
    http: ModelHttp, tmp_path: Path
) -> None:
    tape = tmp_path / "tape.json"
    async with HttpServer({PATH: answers(floats)}) as running:
        embedder = ServerEmbedder(server(running, http))
        await http.record(tape)
        await embedder.embed(["a"])
        assert not tape.exists()
        header = '{"tool": "", "recorded": "", "provider": "openai", "model": "m", "host": "x"}'
        tape.write_text(f'{{"octo_cassette": 1, "header": {header}, "exchanges": []}}')
        await http.replay(tape)
        with pytest.raises(CassetteMismatch):
            await embedder.embed(["a"])
        assert len(running.asked) == 1


async def test_the_words_that_come_along_need_no_server() -> None:
    embedder: Embedder = WordEmbedder()

    rows = await embedder.embed(["a cat sleeps", "the kitten naps", "quarterly tax report", ""])
    likeness = rows @ rows.T

    assert (str(rows.dtype), rows.shape) == ("float32", (4, WORDS_DIMENSION))
    assert numpy.allclose(likeness.diagonal(), [1, 1, 1, 0], atol=1e-5)
    assert likeness[0, 1] > likeness[0, 2]
    assert (await embedder.embed([])).shape == (0, embedder.dimension)
