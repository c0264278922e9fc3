from __future__ import annotations

import ipaddress
from ipaddress import ip_address, ip_network

import pytest

from octo_lab.security.net.addresses import SPECIAL_V4, SPECIAL_V6, embedded, is_public, why_special

RANGES = (*SPECIAL_V4, *SPECIAL_V6)
# What the IANA registries and the address space of IPv6 hold back, and a cloud's own address.
HELD_BACK = (
    *("0.0.0.0/8", "10.0.0.0/8", "100.64.0.0/10", "127.0.0.0/8", "168.63.129.16/32"),
    *("169.254.0.0/16", "172.16.0.0/12", "192.0.0.0/24", "192.0.2.0/24", "192.31.196.0/24"),
    *("192.52.193.0/24", "192.88.99.0/24", "192.168.0.0/16", "192.175.48.0/24", "198.18.0.0/15"),
    *("198.51.100.0/24", "203.0.113.0/24", "224.0.0.0/4", "240.0.0.0/4", "255.255.255.255/32"),
    *("::/128", "::1/128", "64:ff9b::/96", "64:ff9b:1::/48", "100::/64", "100:0:0:1::/64"),
    *("2001::/23", "2001::/32", "2001:1::1/128", "2001:2::/48", "2001:3::/32", "2001:20::/28"),
    *("2001:db8::/32", "2002::/16", "2620:4f:8000::/48", "3fff::/20", "5f00::/16", "fc00::/7"),
    *("fe80::/10", "fec0::/10", "ff00::/8", "::ffff:0:0/96", "::/96", "4000::/2", "8000::/1"),
)
# Where the IPv4 address 0.0.0.0 to 255.255.255.255 may hide.
WRAPPINGS = (
    lambda v4: ip_address(int(ip_address("::ffff:0:0")) | v4),
    lambda v4: ip_address(int(ip_address("64:ff9b::")) | v4),
    lambda v4: ip_address(int(ip_address("64:ff9b:1::")) | v4),
    lambda v4: ip_address(int(ip_address("2002::")) | v4 << 80),
    lambda v4: ip_address(int(ip_address("2001::")) | v4 << 64),
    lambda v4: ip_address(int(ip_address("2001:0:808:808::")) | v4 ^ 0xFFFFFFFF),
    lambda v4: ip_address(int(ip_address("2606:4700::5efe:0:0")) | v4),
    lambda v4: ip_address(int(ip_address("2606:4700::200:5efe:0:0")) | v4),
)


@pytest.mark.parametrize("cidr", [*HELD_BACK, *(cidr for cidr, _ in RANGES)])
def test_the_first_and_the_last_address_of_each_range_are_not_public(cidr: str) -> None:
    network = ip_network(cidr)

    assert not is_public(network[0])
    assert not is_public(network[-1])


@pytest.mark.parametrize(("cidr", "name"), RANGES)
def test_each_range_is_called_by_its_name(cidr: str, name: str) -> None:
    network = ip_network(cidr)
    middle = network.num_addresses // 2
    inner = 0x08080808 if middle > 0xFFFFFFFF else 0

    assert why_special(network[middle | inner]) == name


@pytest.mark.parametrize(
    "address",
    [
        *("1.1.1.1", "8.8.8.8", "93.184.216.34", "9.255.255.255", "11.0.0.0", "100.63.255.255"),
        *("100.128.0.0", "126.255.255.255", "128.0.0.0", "169.253.255.255", "169.255.0.0"),
        *("168.63.129.15", "168.63.129.17", "172.15.255.255", "172.32.0.0", "192.0.1.0"),
        *("192.167.255.255", "192.169.0.0", "198.17.255.255", "198.20.0.0", "223.255.255.255"),
        *("2606:4700::1111", "2000::", "2001:200::", "2001:4860:4860::8888", "2a00::1"),
        *("2001:db7:ffff::", "2001:db9::", "3ffe:ffff::", "::ffff:8.8.8.8", "64:ff9b::808:808"),
        *("2606:4700::5efe:808:808", "2606:4700::1%eth0"),
    ],
)
def test_the_neighbours_of_the_ranges_and_the_rest_are_public(address: str) -> None:
    assert is_public(ip_address(address))


@pytest.mark.parametrize("cidr", [cidr for cidr, _ in SPECIAL_V4])
@pytest.mark.parametrize("wrapped", WRAPPINGS)
def test_an_ipv4_address_inside_an_ipv6_one_is_judged(cidr: str, wrapped: object) -> None:
    network = ip_network(cidr)
    assert callable(wrapped)

    for inner in (network[0], network[-1]):
        address = wrapped(int(inner))
        assert isinstance(address, ipaddress.IPv6Address)
        assert inner in set(embedded(address))
        assert not is_public(address)


def test_a_zone_hides_nothing() -> None:
    assert why_special(ip_address("fe80::1%eth0")) == "a link-local address"
    assert why_special(ip_address("::1%8.8.8.8")) == "a loopback address"
    assert why_special(ip_address("::ffff:127.0.0.1%x")) == "a loopback address"
