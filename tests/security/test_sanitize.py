from __future__ import annotations

import hashlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from octo_lab.security.redact import Redactor
from octo_lab.security.sanitize import Sanitized, sanitize

SHA256, SHA384, SHA512 = (
    getattr(hashlib, name)(b"x").hexdigest() for name in ("sha256", "sha384", "sha512")
)


@pytest.mark.parametrize(
    "text",
    [
        f"{SHA256}  octo_lab-0.1.0.tar.gz",
        f"{SHA512} *dist/wheel",
        f"sha384: {SHA384}",
        f'"integrity": "sha512-{SHA512}"',
        f"Digest\t{SHA256.upper()}",
        "01a22eae-e476-70d4-b3c0-1f99cb8162d9",
        "commit 4f1c2c0d3e5b6a798877665544332211ffeeddcc",
        "data:image/png;base64,iVBORw0KGgo=",
        "def key(a: int) -> str: return 'data:text/plain;base64,' + a",
    ],
)
def test_checksums_ids_and_code_stay(text: str) -> None:
    assert sanitize(text) == Sanitized(text)


@pytest.mark.parametrize(
    ("text", "told"),
    [
        (SHA256, "[64 hexadecimal digits left out]"),
        (f"blob {'ab' * 40}", "blob [80 hexadecimal digits left out]"),
        (f"sha256 {'ab' * 40}", "sha256 [80 hexadecimal digits left out]"),
        (
            f"![x](data:image/png;base64,{'A1' * 32}==)",
            "![x](data:image/png;base64,[66 characters left out])",
        ),
    ],
)
def test_long_data_is_left_out(text: str, told: str) -> None:
    assert sanitize(text) == Sanitized(told)


def test_a_bare_checksum_stays_when_the_call_was_about_it() -> None:
    assert sanitize(SHA256, about="hashlib.sha256(data).hexdigest()").text == SHA256
    assert sanitize(SHA256, digests=True).text == SHA256


def test_a_secret_is_masked_and_told_of() -> None:
    mask = Redactor(["hunter2hunter2"])

    assert sanitize("it is hunter2hunter2", mask=mask) == Sanitized("it is ***", secret=True)
    assert sanitize("OPENAI_API_KEY=correcthorse").secret


@given(
    st.text(max_size=200)
    | st.from_regex(r"(?:[0-9a-f]{60,70}|data:x;base64,[A-Za-z0-9]{60,70}| |\.txt){1,4}")
)
def test_sanitising_twice_is_as_once(text: str) -> None:
    once = sanitize(text).text

    assert sanitize(once).text == once


def test_a_megabyte_of_nasty_text_is_read_in_one_go() -> None:
    """A quadratic reader meets the time limit of every test."""
    pieces = ("data:a;base64,", "0a", "0a ", f"{SHA256} ", "data:", "a.b/", "=" * 64)
    for piece in pieces:
        sanitize(piece * (1_000_000 // len(piece)))
