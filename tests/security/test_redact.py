from __future__ import annotations

import hashlib

import pytest

from octo_lab.security.redact import Redactor, redact, secret_values

LETTERS = "abcdefghij0123456789ABCDEFGHIJ0123456789"


@pytest.mark.parametrize(
    ("text", "masked"),
    [
        (f"sk-ant-{LETTERS}", "sk-a***"),
        (f"key sk-proj-{LETTERS}.", "key sk-p***."),
        ("AKIA" + "A1" * 8, "AKIA***"),
        (f"ghp_{LETTERS}", "ghp_***"),
        (f"github_pat_{LETTERS}", "gith***"),
        (f"glpat-{LETTERS}", "glpa***"),
        (f"xoxb-{LETTERS}", "xoxb***"),
        ("AIza" + "a1_-b" * 7, "AIza***"),
        (f"hf_{LETTERS}", "hf_a***"),
        (f"Authorization: Bearer {LETTERS}", "Authorization: Bearer ***"),
        ('{"api_key": "12345678"}', '{"api_key": "***"}'),
        ("PASSWORD=hunter2hunter2 next", "PASSWORD=*** next"),
        ("https://me:pa55@host/x", "https://me:***@host/x"),
        ("eyJhbGciOiJI.eyJzdWIiOiIx.c2lnbmF0dXJl", "eyJh***"),
        ("bot12 110201543:" + "A" * 35, "bot12 1102***"),
    ],
)
def test_what_looks_like_a_key_is_masked(text: str, masked: str) -> None:
    assert redact(text) == masked


@pytest.mark.parametrize(
    "text",
    [
        hashlib.sha256(b"x").hexdigest(),
        "sha256:" + hashlib.sha256(b"x").hexdigest(),
        '{"sha256": "' + hashlib.sha256(b"x").hexdigest() + '"}',
        "01a22eae-e476-70d4-b3c0-1f99cb8162d9",
        "task-management-with-2-long-names-in-it",
        "sk-learn-contrib-package-with-a-name",
        "the bearer of bad news",
        "http://127.0.0.1:19876/a@b",
        "api_key = None",
        "input_tokens: 1234567890",
    ],
)
def test_what_is_no_key_stays(text: str) -> None:
    assert redact(text) == text


def test_a_known_secret_is_masked_in_every_spelling() -> None:
    mask = Redactor(['pa"ss/word é'])
    assert mask('a pa"ss/word é b') == "a *** b"
    assert mask('{"x": "pa\\"ss/word \\u00e9"}') == '{"x": "***"}'
    assert mask("?x=pa%22ss%2Fword%20%C3%A9&y") == "?x=***&y"
    assert mask("?x=pa%22ss%2Fword+%C3%A9&y") == "?x=***&y"


def test_the_longest_of_overlapping_secrets_goes_whole() -> None:
    assert Redactor(["abcdef", "abcdefgh"])("abcdefgh") == "***"


def test_a_secret_too_short_to_tell_from_words_is_left() -> None:
    assert Redactor(["a", ""])("a cat") == "a cat"


def test_secrets_are_known_by_the_names_of_their_variables() -> None:
    environ = {"OPENAI_API_KEY": "k", "GITHUB_TOKEN": "t", "HOME": "/h", "KEYBOARD": "us"}
    assert secret_values(environ) == ["k", "t"]
