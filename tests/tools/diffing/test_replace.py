from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from octo_lab.core.errors import ToolFailed
from octo_lab.tools.diffing.replace import Replaced, replace_passage
from octo_lab.tools.text_file import read_text


def replace(text: str, old: str, new: str, *, every: bool = False) -> Replaced:
    return replace_passage(text, old, new, every=every, path="f")


def failure(text: str, old: str) -> str:
    with pytest.raises(ToolFailed) as raised:
        replace(text, old, "new")
    return str(raised.value)


@pytest.mark.parametrize(
    ("text", "old", "new", "expected"),
    [
        ("a\nb\nc\n", "b", "B", Replaced(text="a\nB\nc\n", lines=(2,))),
        ("a\r\nb\r\nc\r\n", "a\nb", "x\ny\nz", Replaced(text="x\r\ny\r\nz\r\nc\r\n", lines=(1,))),
        ("a\r\nb\r\nc\r\n", "b\n", "", Replaced(text="a\r\nc\r\n", lines=(2,))),
        ("a\nb\r\nc\n", "b\r\nc", "x\r\ny", Replaced(text="a\nx\ny\n", lines=(2,))),
        ("a\r\nb\nc\n", "c", "d\ne", Replaced(text="a\r\nb\nd\ne\n", lines=(3,))),
        ("a\rb", "a\rb", "c", Replaced(text="c", lines=(1,))),
    ],
)
def test_a_passage_is_replaced_and_the_rest_stays(
    text: str, old: str, new: str, expected: Replaced
) -> None:
    assert replace(text, old, new) == expected


@given(st.text("ab\r\n", max_size=12), st.text("ab\r\n", max_size=12))
def test_nothing_but_the_passage_changes(before: str, after: str) -> None:
    if before.endswith("\r"):
        before += "a"
    assert replace(f"{before}OLD{after}", "OLD", "NEW").text == f"{before}NEW{after}"


def test_every_occurrence_is_replaced_when_asked_for() -> None:
    assert replace("x\nx\nxx\n", "x", "y", every=True) == Replaced(
        text="y\ny\nyy\n", lines=(1, 2, 3, 3)
    )


def test_an_ambiguous_passage_is_refused_with_its_places() -> None:
    assert failure("x\ny\nx\n", "x") == (
        "old_string occurs 2 times in 'f', at lines 1, 3 "
        "(add lines around it until it is unique, or set replace_all)"
    )


def test_a_missing_passage_is_told_what_comes_near() -> None:
    text = "def alpha():\n    return 1\n\ndef beta():\n    return 2\n"
    assert failure(text, "def alpa():\n") == (
        "old_string does not occur in 'f' (0 matches); the nearest lines:\n1|def alpha():\n"
        "4|def beta(): (take a passage as it is)"
    )
    assert failure(text, "def alpha():\n\treturn 1") == (
        "old_string does not occur in 'f' (0 matches); at line 1 it does but for its white space:\n"
        "def alpha():\n    return 1 (take the white space as it is)"
    )
    assert failure(text, "####") == (
        "old_string does not occur in 'f' (0 matches) (read the file and take a passage as it is)"
    )


@given(st.binary(max_size=60))
def test_every_text_gives_its_bytes_back(data: bytes) -> None:
    for mark in (b"", b"\xef\xbb\xbf", b"\xff\xfe", b"\xfe\xff"):
        file = read_text(mark + data)
        if file is not None:
            assert file.with_text(file.text) == mark + data
