from __future__ import annotations

import sys
import tracemalloc
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from octo_lab.core.errors import Unavailable
from octo_lab.llm.sse import MAX_EVENT, ServerSentEvent, SSEDecoder

HARD = (
    b"\xef\xbb\xbfdata:1\r\rdata: a\rdata:b\r\r:ping\r\rretry:x\rretry: 15\rid:a\0\rdata:z\r\n\r\n"
    b"event: error\ndata: one\n\ndata\n\nid: 7\r\ndata: \xe2\x80\xa8 in the data\n\nfoo: bar\n"
    b"data:  two spaces\n\ndata: never ended\n"
)
EVENTS = [
    ServerSentEvent("1"),
    ServerSentEvent("a\nb"),
    ServerSentEvent("z"),
    ServerSentEvent("one", "error"),
    ServerSentEvent(""),
    ServerSentEvent("\u2028 in the data", "message", "7"),
    ServerSentEvent(" two spaces", "message", "7"),
]


def fed(*parts: bytes, limit: int = MAX_EVENT) -> list[ServerSentEvent]:
    decoder = SSEDecoder(limit=limit)
    return [event for part in parts for event in decoder.feed(part)]


def test_every_rule_of_the_algorithm_in_one_body() -> None:
    assert fed(HARD) == EVENTS


E = ServerSentEvent
VECTORS: dict[str, tuple[bytes, list[ServerSentEvent]]] = {
    "nothing": (b"", []),
    "only ends of lines": (b"\n\r\r\n\n", []),
    "a field without a colon": (b"data\n\n", [E("")]),
    "a field without a colon, twice": (b"data\ndata\n\n", [E("\n")]),
    "an empty value": (b"data:\n\n", [E("")]),
    "one leading space goes": (b"data:  a\ndata:\tb\ndata: \n\n", [E(" a\n\tb\n")]),
    "a colon in the value": (b"data:a:b\n\n", [E("a:b")]),
    "a space before the colon": (b"data :a\ndata:b\n\n", [E("b")]),
    "a space before the name": (b" data:a\ndata:b\n\n", [E("b")]),
    "another case": (b"Data:a\nDATA:b\ndata:c\n\n", [E("c")]),
    "a NUL in a name": (b"data\0:a\n\0data:b\ndata:c\n\n", [E("c")]),
    "a NUL in data": (b"data:a\0b\n\n", [E("a\0b")]),
    "unknown fields": (b"foo:x\n:y\nbar\ndata:a\nfoo\n\n", [E("a")]),
    "comments": (b":a\n:\0\n: data:b\ndata:c\n:data:d\n\n:e\n\n", [E("c")]),
    "a long comment": (b":" + b"x" * 20_000 + b"\ndata:a\n\n", [E("a")]),
    "a BOM": (b"\xef\xbb\xbfdata:a\n\n", [E("a")]),
    "two BOMs": (b"\xef\xbb\xbf\xef\xbb\xbfdata:a\n\ndata:b\n\n", [E("b")]),
    "a BOM later": (b"data:a\n\n\xef\xbb\xbfdata:b\n\ndata:c\n\n", [E("a"), E("c")]),
    "half a BOM": (b"\xef\xbbdata:a\n\ndata:b\n\n", [E("b")]),
    "a BOM before an empty line": (b"\xef\xbb\xbf\ndata:a\n\n", [E("a")]),
    "no end": (b"data:a\n\ndata:b", [E("a")]),
    "no empty line": (b"data:a\n\ndata:b\n", [E("a")]),
    "a CR at the end": (b"data:a\r\r", [E("a")]),
    "an event's name": (b"event:x\ndata:a\n\ndata:b\n\n", [E("a", "x"), E("b")]),
    "an empty name": (b"event:x\nevent:\ndata:a\n\n", [E("a")]),
    "the last name counts": (b"event:x\nevent: y\ndata:a\n\n", [E("a", "y")]),
    "a name without data": (b"event:x\n\ndata:a\n\n", [E("a")]),
    "an id stays": (
        b"id:1\ndata:a\n\ndata:b\n\n",
        [E("a", "message", "1"), E("b", "message", "1")],
    ),
    "an id without data": (b"id:1\n\ndata:a\n\n", [E("a", "message", "1")]),
    "an id is taken back": (b"id:1\ndata:a\n\nid\ndata:b\n\n", [E("a", "message", "1"), E("b")]),
    "an id with NUL": (b"id:1\nid:2\0\ndata:a\n\n", [E("a", "message", "1")]),
    "CR": (b"data:a\rdata:b\r\r", [E("a\nb")]),
    "LF": (b"data:a\ndata:b\n\n", [E("a\nb")]),
    "CRLF": (b"data:a\r\ndata:b\r\n\r\n", [E("a\nb")]),
    "all of them": (b"data:a\rdata:b\ndata:c\r\n\rdata:d\n\r\n", [E("a\nb\nc"), E("d")]),
    "LF CR is two ends": (b"data:a\n\rdata:b\n\r", [E("a"), E("b")]),
    "other ends of lines are data": (
        "data:a\u2028b\u2029c\x85d\x0be\x0cf\x1cg\n\n".encode(),
        [E("a\u2028b\u2029c\x85d\x0be\x0cf\x1cg")],
    ),
    "UTF-8": ("data:\u00e9\u4e2d\U0001f419\n\n".encode(), [E("\u00e9\u4e2d\U0001f419")]),
    "no UTF-8": (b"data:\xe9\xf0\x9f\n\n", [E("\ufffd\ufffd")]),
}


@pytest.mark.parametrize(("body", "events"), VECTORS.values(), ids=VECTORS)
def test_the_events_are_those_of_the_standard_however_the_body_is_cut(
    body: bytes, events: list[ServerSentEvent]
) -> None:
    assert fed(body) == events
    assert fed(*(body[i : i + 1] for i in range(len(body)))) == events
    for at in range(min(len(body), 100)):
        assert fed(body[:at], body[at:]) == events, at
        assert fed(body[:at], b"", body[at : at + 1], body[at + 1 :]) == events, at


@given(st.binary(max_size=60), st.lists(st.integers(0, 60), max_size=6))
def test_any_bytes_cut_anywhere_give_the_same_events(body: bytes, cuts: list[int]) -> None:
    bounds = sorted({0, len(body), *(cut for cut in cuts if cut < len(body))})
    assert fed(*(body[a:b] for a, b in pairwise(bounds))) == fed(body)


@pytest.mark.parametrize(
    ("line", "retry"),
    [
        (b"retry:1000", 1000),
        (b"retry: 0", 0),
        (b"retry:0100", 100),
        (b"retry", None),
        (b"retry:", None),
        (b"retry:-1", None),
        (b"retry:1.5", None),
        (b"retry:1000x", None),
        (b"retry: 1 ", None),
        ("retry:\u0661".encode(), None),
    ],
)
def test_a_reconnection_time_is_digits(line: bytes, retry: int | None) -> None:
    decoder = SSEDecoder()
    assert decoder.feed(line + b"\n\ndata:a\n\n") == [ServerSentEvent("a")]
    assert decoder.retry == retry


def test_one_byte_at_a_time_gives_the_same_events() -> None:
    assert fed(*(HARD[i : i + 1] for i in range(len(HARD)))) == EVENTS


@given(st.lists(st.integers(0, len(HARD)), max_size=8))
def test_any_cut_gives_the_same_events(cuts: list[int]) -> None:
    bounds = sorted({0, len(HARD), *cuts})
    assert fed(*(HARD[a:b] for a, b in pairwise(bounds))) == EVENTS


@given(
    st.lists(st.sampled_from([b"data: x", b"data:y", b"event: e", b"id: 1", b":", b"", b"data"])),
    st.sampled_from([b"\n", b"\r", b"\r\n"]),
    st.lists(st.integers(0, 200), max_size=5),
)
def test_the_fast_path_and_the_state_machine_agree(
    lines: list[bytes], end: bytes, cuts: list[int]
) -> None:
    body = b"".join(line + end for line in lines)
    bounds = sorted({0, len(body), *(cut for cut in cuts if cut < len(body))})
    assert fed(*(body[a:b] for a, b in pairwise(bounds))) == fed(
        *(body[i : i + 1] for i in range(len(body)))
    )


_LINES = st.sampled_from(
    [b"data: x", b"data: ", b"data:y", b"event: e", b"event: ", b"event:f", b"id: 1", b"data", b":"]
)


@given(st.lists(st.lists(_LINES, max_size=3), max_size=6), st.sampled_from([b"\n", b"\r", b"\r\n"]))
def test_events_that_come_whole_are_those_that_come_in_bytes(
    blocks: list[list[bytes]], end: bytes
) -> None:
    parts = [b":\n\n", *(b"".join(line + end for line in [*lines, b""]) for lines in blocks)]
    body = b"".join(parts)
    assert fed(*parts) == fed(*(body[i : i + 1] for i in range(len(body))))


def test_the_retry_time_is_read_from_digits_only() -> None:
    decoder = SSEDecoder()
    decoder.feed(HARD)
    assert decoder.retry == 15


def test_bytes_that_are_no_utf8_are_replaced() -> None:
    assert fed(b"data: \xff\xfe\n\n") == [ServerSentEvent("\ufffd\ufffd")]


@pytest.mark.parametrize(
    "parts",
    [
        [b"x" * 600, b"x" * 600],
        [b"data: " + b"x" * 400 + b"\n"] * 3,
        [b":\n\n", b"data: " + b"x" * 1200 + b"\n\n"],
    ],
)
def test_an_event_longer_than_the_limit_is_refused(parts: list[bytes]) -> None:
    with pytest.raises(Unavailable, match="more than 1000 bytes"):
        fed(*parts, limit=1000)


def test_many_short_events_pass_under_the_limit() -> None:
    decoder = SSEDecoder(limit=100)
    count = sum(len(decoder.feed(b"data: 12345678\r\n\r\n" * 50)) for _ in range(200))
    assert count == 10_000


def calls_of(work: Callable[[], object]) -> int:
    """How many calls of functions, also of the C kind, some work takes."""
    calls = 0

    def count(_frame: object, kind: str, _argument: object) -> None:
        nonlocal calls
        calls += kind in ("call", "c_call")

    sys.setprofile(count)
    try:
        work()
    finally:
        sys.setprofile(None)
    return calls


def peak_of(work: Callable[[], object]) -> int:
    """The most bytes of memory some work holds at once."""
    tracemalloc.start()
    try:
        work()
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


def drained(parts: Iterable[bytes]) -> int:
    decoder = SSEDecoder()
    return sum(len(decoder.feed(part)) for part in parts)


EVENT = b'event: delta\r\nid: 7\r\ndata: {"text": "some words"}\r\n\r\n'


@pytest.mark.parametrize("size", [1, 7, len(EVENT), 1000])
def test_the_work_for_crlf_events_grows_as_their_number(size: int) -> None:
    def parts(count: int) -> Iterator[bytes]:
        body = EVENT * count
        return (body[at : at + size] for at in range(0, len(body), size))

    few, many = (calls_of(partial(drained, parts(count))) for count in (200, 800))
    assert 3.9 < many / few < 4.1


def test_memory_does_not_grow_with_the_length_of_a_stream() -> None:
    part = EVENT * 1000  # 58 KB

    def stream(count: int) -> int:
        return peak_of(lambda: drained(part for _ in range(count)))

    assert stream(200) < stream(20) + 100_000 < 2_000_000


def test_a_line_without_an_end_is_refused_before_it_is_held() -> None:
    """64 MB of it, of which the limit and one piece are ever asked for."""
    given = 0

    def endless() -> Iterator[bytes]:
        nonlocal given
        for _ in range(1024):
            given += 65_536
            yield b"x" * 65_536

    def refused() -> None:
        with pytest.raises(Unavailable, match="more than 1048576 bytes"):
            drained(endless())

    assert peak_of(refused) < 3_000_000
    assert given <= MAX_EVENT + 65_536


def test_a_long_line_in_small_pieces_is_joined_once() -> None:
    def line(size: int) -> Iterator[bytes]:
        yield from (b"data: ", *([b"x" * 10] * size), b"\n\n")

    few, many = (calls_of(partial(drained, line(size))) for size in (1000, 4000))
    assert 3.9 < many / few < 4.1
