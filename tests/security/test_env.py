"""What programs that are started are not told."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from octo_lab.security.env import BLOCKED, clean_environ, without_blocked

PLAIN = {"PATH": "/usr/bin", "HOME": "/home/u", "LANG": "C.UTF-8", "PWD": "/w", "TOKENIZERS": "on"}


def test_ordinary_variables_are_passed() -> None:
    assert clean_environ(PLAIN) == PLAIN


def test_the_eighteen_that_steer_programs_are_never_passed_even_when_allowed() -> None:
    assert len(BLOCKED) == 18
    steering = dict.fromkeys(BLOCKED, "/tmp/evil")

    assert clean_environ({**PLAIN, **steering}, allow=("*",)) == PLAIN
    assert without_blocked({**PLAIN, **steering}) == PLAIN


@pytest.mark.parametrize(
    "name",
    [
        *("OPENAI_API_KEY", "GITHUB_TOKEN", "DB_PASSWORD", "PG_PASSWD", "MY_SECRET", "GH_PAT"),
        *("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "GOOGLE_CREDENTIALS", "PASSWORD"),
        *("SSH_AUTH_SOCK", "GPG_AGENT_INFO", "SENTRY_DSN", "NPM_AUTH", "SSH_PASSPHRASE"),
        *("DB_PASS", "ftp_pwd", "SESSION_COOKIE", "api_keys", "APIKEY"),
    ],
)
def test_a_name_that_looks_secret_is_left_out_unless_it_is_allowed(name: str) -> None:
    environ = {**PLAIN, name: "value-of-it"}

    assert clean_environ(environ) == PLAIN
    assert clean_environ(environ, allow=(name,)) == environ


@pytest.mark.parametrize(
    "value",
    [
        "postgres://user:hunter2hunter2@db/x",
        "sk-proj-abcdefghijklmnop1234567890",
        "Authorization: Bearer abcdefghijklmnopqrstuvwxyz",
        "ghp_abcdefghijklmnopqrstuvwxyz0123456789",
    ],
)
def test_a_value_that_looks_secret_is_left_out_whatever_its_name(value: str) -> None:
    assert clean_environ({**PLAIN, "SETUP": value}) == PLAIN


def test_a_secret_that_is_known_is_found_inside_other_values() -> None:
    environ = {**PLAIN, "MY_TOKEN": "correct-horse", "ARGS": "--auth correct-horse", "B": "battery"}

    assert clean_environ(environ, secrets=("battery",)) == PLAIN


def test_what_is_short_is_no_secret_to_search_for() -> None:
    environ = {**PLAIN, "APP_KEY": "on", "FLAG": "on"}

    assert clean_environ(environ) == {**PLAIN, "FLAG": "on"}


def test_exported_shell_functions_and_malformed_names_are_left_out() -> None:
    odd = {"BASH_FUNC_ls%%": "() { rm -rf ~; }", "A=B": "c", "": "d", "N": "nul\0byte"}

    assert clean_environ({**PLAIN, **odd}) == PLAIN


@given(st.dictionaries(st.text(), st.text()), st.text(min_size=6))
def test_no_known_secret_ever_passes(environ: dict[str, str], secret: str) -> None:
    given_on = clean_environ({**environ, "X_TOKEN": secret, "Y": f"a{secret}b"}, secrets=(secret,))

    assert "X_TOKEN" not in given_on
    assert not any(secret in value for value in given_on.values())
