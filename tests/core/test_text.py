from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from octo_lab.core.text import (
    between_commas,
    clean,
    first_line,
    head_and_tail,
    truncate_utf8,
    visible,
)

ANY_TEXT = st.text(st.characters())


@given(ANY_TEXT)
def test_clean_text_always_encodes_and_clean_text_stays(text: str) -> None:
    cleaned = clean(text)

    assert cleaned.encode().decode() == cleaned
    assert clean(cleaned) == cleaned


def test_a_split_surrogate_pair_is_joined_and_a_lone_half_replaced() -> None:
    assert clean("a\ud83d\ude00b\ud800") == "a😀b\ufffd"


@given(ANY_TEXT, st.integers(0, 40))
def test_truncation_keeps_whole_characters_within_the_limit(text: str, limit: int) -> None:
    cut = truncate_utf8(text, limit, suffix="")

    assert clean(text).startswith(clean(cut))
    assert len(clean(cut).encode()) <= limit or (cut == text and len(text.encode()) <= limit)


def test_truncation_adds_its_suffix_only_when_it_cuts() -> None:
    assert truncate_utf8("äöü", 4) == "äö…"
    assert truncate_utf8("äöü", 6) == "äöü"


def test_a_long_output_keeps_its_ends_and_says_what_went() -> None:
    assert head_and_tail("a" * 6 + "b" * 80 + "c" * 3, 9) == (
        "aaaaaa\n[… 80 characters omitted …]\nccc"
    )
    assert head_and_tail("short", 9) == "short"


@pytest.mark.parametrize(
    ("text", "expected"), [("\n\n  hello \nworld", "hello"), ("", ""), ("x" * 90, "x" * 79 + "…")]
)
def test_the_first_line_is_short_and_not_blank(text: str, expected: str) -> None:
    assert first_line(text) == expected


def test_a_list_may_be_written_with_commas() -> None:
    assert between_commas(["a*, b", "group:fs", " ,", ""]) == ("a*", "b", "group:fs")


def test_what_steers_a_screen_or_is_not_seen_is_visible() -> None:
    odd = "ls\x1b[2K \u202egnp.exe \u2066x\u200b\r\x9b\U000e0041"

    assert visible(odd) == "ls\\x1b[2K \\u202egnp.exe \\u2066x\\u200b\\r\\x9b\\U000e0041"
    assert visible("rm\u3164-r\u115f\u2800\ufe01\U000e0100") == (
        "rm\\u3164-r\\u115f\\u2800\\ufe01\\U000e0100"
    )
    assert visible("a\tb\nü 👩\u200d🔬") == "a\tb\nü 👩\u200d🔬"
