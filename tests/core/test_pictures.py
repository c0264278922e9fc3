from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from octo_lab.core.pictures import picture_type


@pytest.mark.parametrize(
    ("data", "mime"),
    [
        (b"\x89PNG\r\n\x1a\n\x00\x00", "image/png"),
        (b"\xff\xd8\xff\xe0\x00\x10JFIF", "image/jpeg"),
        (b"GIF89a\x01", "image/gif"),
        (b"GIF87a\x01", "image/gif"),
        (b"RIFF\x24\x00\x00\x00WEBPVP8 ", "image/webp"),
        (b"RIFF\x24\x00\x00\x00WAVEfmt ", ""),
        (b"GIF8", ""),
        (b"<svg xmlns=", ""),
        (b"", ""),
    ],
)
def test_a_picture_is_told_from_how_it_begins(data: bytes, mime: str) -> None:
    assert picture_type(data) == mime


@given(st.text())
def test_words_are_no_picture(text: str) -> None:
    assert picture_type(f" {text}".encode("utf-8", "replace")) == ""
