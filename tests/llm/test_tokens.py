from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from octo_lab.core.messages import Message, ToolCall
from octo_lab.llm.tokens import context_window, estimate_tokens, message_tokens


@pytest.mark.parametrize(
    ("text", "tokens"), [("", 1), ("abcd" * 10, 10), ("\u4f60\u597d\u5417", 2), ("ab\u4f60", 1)]
)
def test_a_text_is_estimated(text: str, tokens: int) -> None:
    assert estimate_tokens(text) == tokens


def test_a_message_counts_its_calls() -> None:
    call = ToolCall(id="1", name="read", arguments='{"a": 1}')
    assert message_tokens(Message(role="assistant", content="abcd", tool_calls=(call,))) == 8


@given(st.text(max_size=200))
def test_the_estimate_is_the_formula_to_the_letter(text: str) -> None:
    ascii_ones = sum(ord(char) < 128 for char in text)
    exact = Fraction(ascii_ones, 4) + Fraction(len(text) - ascii_ones) / Fraction(3, 2)
    assert estimate_tokens(text) == max(1, exact.numerator // exact.denominator)


@given(st.text(alphabet=st.characters(codec=None), max_size=50))
def test_a_lone_surrogate_is_a_character_like_others(text: str) -> None:
    assert estimate_tokens(f"{text}\ud800") == estimate_tokens(f"{text}\u4f60")


def test_a_long_text_is_estimated_whole() -> None:
    assert estimate_tokens("\u4f60\u597d " * 400_000) == 633_333


@given(st.text(max_size=40), st.lists(st.tuples(st.text(max_size=9), st.text(max_size=30))))
def test_a_message_is_its_text_names_and_arguments_and_four(
    text: str, calls: list[tuple[str, str]]
) -> None:
    made = tuple(ToolCall(id="1", name=name, arguments=given) for name, given in calls)
    words = "".join([text, *(name + given for name, given in calls)])
    message = Message(role="assistant", content=text, tool_calls=made)
    assert message_tokens(message) == estimate_tokens(words) + 4


@pytest.mark.parametrize(
    ("model", "window"),
    [
        ("gpt-4o-mini", 128_000),
        ("o3", 200_000),
        ("gemini-2.0-flash", 1_000_000),
        ("gemini-1.5-pro", 1_000_000),
        ("gemini-2.5-flash", 1_048_576),
        ("claude-3-5-sonnet-20241022", 200_000),
        ("anthropic/claude-sonnet-4-20250514", 200_000),
        ("gpt-4-turbo", 128_000),
        ("gpt-4.1", 1_047_576),
        ("qwen-max", 32_768),
        ("o1-preview", 200_000),
        ("x", 128_000),
    ],
)
def test_a_window_is_known_or_told_from_the_name(model: str, window: int) -> None:
    assert context_window(model) == window
