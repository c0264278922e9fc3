from __future__ import annotations

from ipaddress import ip_address

import pytest

from octo_lab.core.errors import ConfigError
from octo_lab.security.net.allowed import read_allowed


def test_a_host_is_allowed_on_any_port_or_on_one() -> None:
    allowed = read_allowed(["Server.LAN", "bücher.example:81", "127.1:8080", "[::1]:9", "::2"])

    assert allowed.names("server.lan", 1)
    assert allowed.names("xn--bcher-kva.example", 81)
    assert not allowed.names("xn--bcher-kva.example", 82)
    assert allowed.names("127.0.0.1", 8080)
    assert not allowed.names("127.0.0.1", 8081)
    assert allowed.holds(ip_address("::1"), 9)
    assert not allowed.holds(ip_address("::1"), 10)
    assert allowed.holds(ip_address("::2"), 10)


def test_a_network_is_allowed_on_any_port() -> None:
    allowed = read_allowed([" 10.1.0.0/16 ", "fd00::/8"])

    assert allowed.holds(ip_address("10.1.255.255"), 80)
    assert allowed.holds(ip_address("fd00::1"), 80)
    assert not allowed.holds(ip_address("10.2.0.0"), 80)
    assert not allowed.holds(ip_address("::ffff:10.1.0.1"), 80)


@pytest.mark.parametrize(
    "entry", ["", "10.0.0.1/8", "a b", "http://x", "x:0", "user@x", "x/33", "*"]
)
def test_what_is_neither_a_host_nor_a_network_is_refused_by_name(entry: str) -> None:
    with pytest.raises(ConfigError, match=r"network\.allow names"):
        read_allowed([entry])
