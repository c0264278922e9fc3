from __future__ import annotations

import pytest

from octo_lab.core.errors import ConfigError
from octo_lab.web.access import TOKEN_VARIABLE, Access, choose_access

ACCESS = Access(token="right", names=frozenset({"lab.example"}))


def status(path: str = "/api/status", **headers: str) -> int:
    refusal = ACCESS.refusal(path, {"host": "127.0.0.1:1", **headers})
    return refusal.status if refusal else 200


def test_only_the_right_token_opens() -> None:
    assert status(authorization="Bearer right") == 200
    assert status(authorization="bearer right") == 200
    assert [
        status(),
        status(authorization="Bearer wrong"),
        status(authorization="right"),
        status(authorization="Basic right"),
        status(authorization="Bearer ré"),
    ] == [401] * 5


def test_health_needs_no_token() -> None:
    assert status("/health") == 200


@pytest.mark.parametrize(
    ("host", "expected"),
    [
        ("localhost:19876", 200),
        ("LOCALHOST.", 200),
        ("[::1]:19876", 200),
        ("192.168.1.5", 200),
        ("lab.example:80", 200),
        ("evil.example:19876", 421),
        ("127.0.0.1.evil.example", 421),
        ("", 421),
        ("[", 421),
    ],
)
def test_a_foreign_name_is_refused_because_it_may_be_rebound(host: str, expected: int) -> None:
    assert status("/health", host=host) == expected


@pytest.mark.parametrize(
    ("origin", "expected"),
    [
        ("http://127.0.0.1:1", 200),
        ("http://127.0.0.1:2", 403),
        ("https://evil.example", 403),
        ("null", 403),
        ("http://[", 403),
        ("", 403),
    ],
)
def test_only_our_own_page_may_call(origin: str, expected: int) -> None:
    assert status("/health", origin=origin) == expected


def test_loopback_gets_a_fresh_token_each_time() -> None:
    one, two = choose_access("127.0.0.1", {}), choose_access("::1", {})
    assert len(one.token) >= 32
    assert one.token != two.token
    assert one.token not in repr(one)


def test_other_hosts_need_a_token_of_ones_own() -> None:
    with pytest.raises(ConfigError, match=r"'0.0.0.0'.*OCTO_GATEWAY_TOKEN"):
        choose_access("0.0.0.0", {})


@pytest.mark.parametrize("host", ["127.0.0.1", "0.0.0.0"])
@pytest.mark.parametrize(
    "token", ["short", "long enough but of words", "in two\nlines-0123456789", "ünïcode-0123456789"]
)
def test_a_token_that_is_weak_or_cannot_be_sent_is_refused_unseen(host: str, token: str) -> None:
    with pytest.raises(ConfigError, match="OCTO_GATEWAY_TOKEN holds no token") as caught:
        choose_access(host, {TOKEN_VARIABLE: token})
    assert token not in str(caught.value)


def test_a_chosen_token_is_used() -> None:
    token = "long-enough-for-it"
    assert choose_access("0.0.0.0", {TOKEN_VARIABLE: token}).token == token
    assert choose_access("::1", {TOKEN_VARIABLE: token}).token == token
