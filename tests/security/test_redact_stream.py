from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from octo_lab.security.redact import Redactor

LETTERS = "abcdefghij0123456789ABCDEFGHIJ0123456789"
KNOWN = ("hunter2hunter2", "hunter2hunter2-and-more", 'pa"ss/word é', "abcabcabd")
PIECES = st.sampled_from(
    [
        *KNOWN,
        "hunter2",
        "abcabc",
        "aHVudGVyMmh1bnRlcjI",
        'pa\\"ss/word \\u00e9',
        "sk-",
        "sk-ant-a1",
        "gh",
        "p_",
        "github_pat_",
        "xoxb-",
        "AKIA",
        "AIza",
        "eyJ",
        "hf_",
        "bot",
        "nvapi-",
        "sk_live_",
        "npm_",
        "tvly-",
        "ya29",
        "a1",
        ".",
        "-",
        "Bear",
        "er",
        " ",
        "pass",
        "word",
        "secret",
        "_access_key",
        "=",
        ": ",
        '"',
        "'",
        "://",
        "me:",
        "@",
        "API_",
        "KEY=",
        "***",
        "x" * 20,
        "7" * 9,
        ":",
        "-----BEGIN PRIVATE",
        " KEY-----",
        "-----END",
        "\n",
        "$",
        "\\",
        "\\n",
        "`",
        "(",
        "settings.value",
        "é",
        "\ud83d",
        "…",
        "...",
        "..",
    ]
)
TEXTS = st.text(max_size=60) | st.lists(PIECES, max_size=14).map("".join)
MASKS = (Redactor(KNOWN), Redactor(KNOWN, shapes=False), Redactor())


def streamed(mask: Redactor, pieces: list[str]) -> str:
    stream = mask.in_pieces()
    return "".join([*(stream.feed(piece) for piece in pieces), stream.end()])


@pytest.mark.parametrize("mask", MASKS, ids=["all", "known", "shapes"])
@given(TEXTS, st.lists(st.integers(0, 200), max_size=8))
def test_a_text_in_pieces_is_masked_as_the_whole(
    mask: Redactor, text: str, places: list[int]
) -> None:
    cuts = [0, *sorted(min(place, len(text)) for place in places), len(text)]
    pieces = [text[a:b] for a, b in pairwise(cuts)]

    assert streamed(mask, pieces) == mask(text)
    assert streamed(mask, list(text)) == mask(text)


def test_what_is_held_back_is_bounded_and_still_hidden() -> None:
    stream = Redactor().in_pieces()

    given = stream.feed("key: sk-a1")
    for _ in range(30):
        given += stream.feed("a1" * 500)

    assert given.startswith("key: sk-a***")
    assert stream.hid
