from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from octo_lab.core.stream import ReasoningDelta, TextDelta
from octo_lab.llm.think import ThinkFilter


def split(*parts: str) -> tuple[str, str]:
    """The text and the thinking of a stream."""
    think = ThinkFilter()
    out = [event for part in parts for event in think.feed(part)] + think.close()
    text = "".join(event.text for event in out if isinstance(event, TextDelta))
    return text, "".join(event.text for event in out if isinstance(event, ReasoningDelta))


@pytest.mark.parametrize(
    ("said", "text", "thinking"),
    [
        ("plain", "plain", ""),
        ("<think>why</think>\n\nbecause", "because", "why"),
        ("one <think>why</think> two <think>again</think>three", "one two three", "whyagain"),
        ("<think>never closed", "", "never closed"),
        ("a < b and <thin", "a < b and <thin", ""),
        ("the tag `<think>` is code", "the tag `<think>` is code", ""),
        ("```\n<think>x</think>\n```", "```\n<think>x</think>\n```", ""),
        ("<think>`</think>a<think>b</think>c", "ac", "`b"),
        ("<think>a < b</think>", "", "a < b"),
        ("<think></think>x", "x", ""),
        ("</think>x", "</think>x", ""),
    ],
)
def test_tags_are_told_from_text(said: str, text: str, thinking: str) -> None:
    assert split(said) == (text, thinking)
    assert split(*said) == (text, thinking)


@given(st.text(alphabet="<think>/ `ab\n"), st.lists(st.integers(0, 40), max_size=6))
def test_any_cut_gives_the_same_text(said: str, cuts: list[int]) -> None:
    bounds = sorted({0, len(said), *(cut for cut in cuts if cut < len(said))})
    assert split(*(said[a:b] for a, b in pairwise(bounds))) == split(said)


def test_text_without_a_tag_is_passed_at_once() -> None:
    assert ThinkFilter().feed("hello") == [TextDelta("hello")]
