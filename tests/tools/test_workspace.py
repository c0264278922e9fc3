from __future__ import annotations

import pytest

from octo_lab.tools.workspace import decode, size_words, utf8_lines


@pytest.mark.parametrize(
    ("data", "text"),
    [
        (b"plain", "plain"),
        ("\ufeffž".encode(), "ž"),
        ("ž".encode("utf-16"), "ž"),
        (b"\xfe\xff\x01\x7e", "ž"),
        (b"\xff", "ÿ"),
        ("ž".encode() + b"\xff", "ž�"),
        (b"a\0b", None),
    ],
)
def test_text_is_told_from_binary(data: bytes, text: str | None) -> None:
    assert decode(data) == text


@pytest.mark.parametrize(
    ("data", "lines"),
    [
        (b"a\r\nb\xff", b"a\nb\xff"),
        ("ž\r\n".encode("utf-16"), "ž\n".encode()),
        (b"a\0b", b""),
        (b"x" * 9000 + b"\0", b"x" * 9000 + b"\0"),
    ],
)
def test_lines_are_searched_as_utf_8(data: bytes, lines: bytes) -> None:
    assert utf8_lines(data) == lines


@pytest.mark.parametrize(
    ("size", "words"), [(0, "0 bytes"), (999, "999 bytes"), (1234, "1.2 kB"), (5_600_000, "5.6 MB")]
)
def test_sizes_are_said_in_words(size: int, words: str) -> None:
    assert size_words(size) == words
