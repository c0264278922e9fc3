from __future__ import annotations

import ipaddress
import socket
from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from octo_lab.core.errors import ToolDenied, ToolFailed
from octo_lab.security.net.addresses import is_public
from octo_lab.security.net.urls import (
    Target,
    as_address,
    joined,
    parse_authority,
    parse_host,
    parse_url,
)
from tests.security.net.spellings import LITERALS


def read(url: str) -> Target | str:
    try:
        return parse_url(url)
    except ToolDenied:
        return "denied"
    except ToolFailed:
        return "failed"


def test_there_are_enough_spellings() -> None:
    assert len(set(LITERALS)) >= 120


@pytest.mark.parametrize("spelling", LITERALS)
def test_no_spelling_of_an_inner_address_reads_as_a_public_one(spelling: str) -> None:
    target = read(spelling.replace("{port}", "8000"))

    if isinstance(target, Target) and target.host not in ("localhost", "example.com"):
        address = as_address(target.host)
        assert address is not None
        assert not is_public(address)


@pytest.mark.parametrize(
    ("url", "canonical"),
    [
        ("http://example.com", "http://example.com/"),
        ("  https://example.com/a?b=c#d  ", "https://example.com/a?b=c"),
        ("HTTPS://EXAMPLE.com.:443/", "https://example.com/"),
        ("http://example.com:8080?q", "http://example.com:8080/?q"),
        ("http://example.com:/x", "http://example.com/x"),
        ("http://a_b.example/", "http://a_b.example/"),
        ("http://bücher.example/ü?ö=%20", "http://xn--bcher-kva.example/%C3%BC?%C3%B6=%20"),
        ("http://faß.de/", "http://xn--fa-hia.de/"),
        ("http://日本語。jp/", "http://xn--wgv71a119e.jp/"),
        ("http://8.8.2056/", "http://8.8.8.8/"),
        ("http://[2606:4700:0::1111]:8443/", "http://[2606:4700::1111]:8443/"),
        ("http://[::ffff:8.8.8.8]/", "http://[::ffff:808:808]/"),
        ("https://example.com/a@b:c/../d", "https://example.com/a@b:c/../d"),
    ],
)
def test_a_good_url_has_one_form(url: str, canonical: str) -> None:
    assert parse_url(url).url == canonical


@pytest.mark.parametrize(
    ("url", "said"),
    [
        ("ftp://x/", "ftp: addresses may not be fetched (only http and https may)"),
        (
            "http://u:p@x/",
            "A name or password may stand in no URL (leave out what is before the @)",
        ),
    ],
)
def test_what_may_not_be_fetched_is_denied_with_the_next_step(url: str, said: str) -> None:
    with pytest.raises(ToolDenied) as caught:
        parse_url(url)

    assert str(caught.value) == said


@pytest.mark.parametrize(
    "url", [f"http://example.com/{'x' * 9000}", "http://a b/", "x", "http://x:0/"]
)
def test_what_is_no_address_fails(url: str) -> None:
    assert read(url) == "failed"


@pytest.mark.parametrize(
    ("location", "leads_to"),
    [
        ("/b", "https://a.example/b"),
        ("c d", "https://a.example/x/c%20d"),
        ("//b.example/", "https://b.example/"),
        ("?q", "https://a.example/x/y?q"),
        ("http://127.0.0.1/", "http://127.0.0.1/"),
    ],
)
def test_a_redirect_is_read_from_where_it_was_given(location: str, leads_to: str) -> None:
    assert joined(parse_url("https://a.example/x/y"), location).url == leads_to


@pytest.mark.parametrize("location", ["//[::1", "http://a@b/", "\\\\x", "javascript:1"])
def test_a_redirect_to_no_address_is_refused(location: str) -> None:
    with pytest.raises(ToolFailed):
        joined(parse_url("https://a.example/"), location)


def test_an_authority_needs_a_port_where_there_is_no_usual_one() -> None:
    assert parse_authority("[::1]:443") == ("::1", 443)
    with pytest.raises(ToolFailed):
        parse_authority("example.com")


@given(st.text(max_size=40) | st.from_regex(r"[0-9a-fx.%]{1,20}", fullmatch=True))
def test_whatever_the_host_it_is_read_or_refused_and_reading_twice_changes_nothing(
    host: str,
) -> None:
    with suppress(ToolFailed):
        once = parse_host(host)
        assert once.isascii()
        assert parse_host(once) == once


@given(
    st.from_regex(
        r"(0[xX][0-9a-fA-F]{0,8}|0[0-7]{0,11}|[0-9]{1,10})(\.(0x[0-9a-f]{0,3}|[0-9]{1,4})){0,3}",
        fullmatch=True,
    )
)
def test_an_ipv4_address_is_the_one_that_the_system_would_connect_to(host: str) -> None:
    try:
        system = ipaddress.IPv4Address(socket.inet_aton(host))
    except OSError:
        return
    assert as_address(parse_host(host)) == system


@given(st.text(max_size=60).map(lambda rest: f"http://example.com/{rest}"))
def test_no_path_leads_to_another_host_or_holds_a_control_character(url: str) -> None:
    target = read(url)

    if isinstance(target, Target):
        assert target.host == "example.com"
        assert target.path.isascii()
        assert target.path.isprintable()
        assert parse_url(target.url) == target
