from __future__ import annotations

from collections.abc import Iterable
from itertools import pairwise

from hypothesis import given, settings
from hypothesis import strategies as st

from octo_lab.core.stream import StreamEvent
from octo_lab.llm.wires.chat.reader import ChatReader
from octo_lab.testing.llm_script import Turn
from octo_lab.testing.wires.chat import WIRE
from tests.llm.differential.differential import in_utf8, turns

ENDS = st.sampled_from([b"\n", b"\r\n", b"\r"])
CUTS = st.lists(st.integers(0, 2**20), max_size=12)
ASKED = {"model": "m", "stream_options": {"include_usage": True}}


def body_of(turn: Turn, end: bytes = b"\n") -> bytes:
    """The bytes of an answer, with these line ends and a ping between two events."""
    return end.join(in_utf8(b": ping\n\n".join(WIRE.pieces(turn, ASKED))).split(b"\n"))


def read(parts: Iterable[bytes]) -> list[StreamEvent]:
    reader = ChatReader("lab")
    return [event for part in parts for event in reader.feed(part)] + reader.close()


@given(turns(finishes=(None, "length")), ENDS, CUTS)
def test_any_split_of_any_answer_gives_the_same_events(
    turn: Turn, end: bytes, cuts: list[int]
) -> None:
    whole = body_of(turn)
    body = body_of(turn, end)
    bounds = sorted({0, len(body), *(cut % len(body) for cut in cuts)})
    assert read(body[a:b] for a, b in pairwise(bounds)) == read([whole])


@settings(max_examples=30)
@given(turns(), ENDS)
def test_one_byte_at_a_time_gives_the_same_events(turn: Turn, end: bytes) -> None:
    body = body_of(turn, end)
    assert read(body[at : at + 1] for at in range(len(body))) == read([body])
