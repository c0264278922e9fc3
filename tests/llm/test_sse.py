from __future__ import annotations

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
