"""Which IP addresses are the public internet's."""

from __future__ import annotations

import ipaddress
from collections.abc import Iterator

Address = ipaddress.IPv4Address | ipaddress.IPv6Address

# The special-purpose registries of IANA (iana-ipv4-special-registry, iana-ipv6-special-registry,
# multicast, ipv6-address-space). Ranges that the registry calls globally reachable are refused,
# too, where no web site lives in them. `ipaddress.is_global` follows other rules.
SPECIAL_V4: tuple[tuple[str, str], ...] = (
    ("0.0.0.0/8", "an address of this network"),
    ("10.0.0.0/8", "a private address"),
    ("100.64.0.0/10", "a shared address of a carrier"),
    ("127.0.0.0/8", "a loopback address"),
    ("168.63.129.16/32", "an address of a cloud's own services"),
    ("169.254.0.0/16", "a link-local address"),
    ("172.16.0.0/12", "a private address"),
    ("192.0.0.0/24", "a protocol assignment"),
    ("192.0.2.0/24", "an address for documentation"),
    ("192.31.196.0/24", "an address of AS112"),
    ("192.52.193.0/24", "an address of multicast tunnels"),
    ("192.88.99.0/24", "an address of 6to4 relays"),
    ("192.168.0.0/16", "a private address"),
    ("192.175.48.0/24", "an address of AS112"),
    ("198.18.0.0/15", "an address for benchmarks"),
    ("198.51.100.0/24", "an address for documentation"),
    ("203.0.113.0/24", "an address for documentation"),
    ("224.0.0.0/4", "a multicast address"),
    ("255.255.255.255/32", "the broadcast address"),
    ("240.0.0.0/4", "a reserved address"),
)
SPECIAL_V6: tuple[tuple[str, str], ...] = (
    ("::/128", "the unspecified address"),
    ("::1/128", "a loopback address"),
    ("64:ff9b:1::/48", "a private translation address"),
    ("100::/64", "an address that discards"),
    ("100:0:0:1::/64", "a dummy address"),
    ("2001::/23", "a protocol assignment"),
    ("2001:db8::/32", "an address for documentation"),
    ("2002::/16", "a 6to4 address"),
    ("2620:4f:8000::/48", "an address of AS112"),
    ("3fff::/20", "an address for documentation"),
    ("5f00::/16", "a segment routing address"),
    ("fc00::/7", "a private address"),
    ("fe80::/10", "a link-local address"),
    ("fec0::/10", "a site-local address"),
    ("ff00::/8", "a multicast address"),
)
_V4 = tuple((ipaddress.IPv4Network(cidr), name) for cidr, name in SPECIAL_V4)
_V6 = tuple((ipaddress.IPv6Network(cidr), name) for cidr, name in SPECIAL_V6)
_UNICAST = ipaddress.IPv6Network("2000::/3")
_MAPPED = ipaddress.IPv6Network("::ffff:0:0/96")
_NAT64 = ipaddress.IPv6Network("64:ff9b::/96")
_NAT64_LOCAL = ipaddress.IPv6Network("64:ff9b:1::/48")
_COMPATIBLE = ipaddress.IPv6Network("::/96")
_IN_THE_END = (_MAPPED, _NAT64, _NAT64_LOCAL, _COMPATIBLE)
_SIX_TO_FOUR = ipaddress.IPv6Network("2002::/16")
_TEREDO = ipaddress.IPv6Network("2001::/32")
_ISATAP = (0x0000_5EFE, 0x0200_5EFE)


def is_public(address: Address) -> bool:
    """Whether the address, and every IPv4 address within it, is of the public internet."""
    return not why_special(address)


def why_special(address: Address) -> str:
    """What the address is if not a public one, as in ``a loopback address``; else empty."""
    if isinstance(address, ipaddress.IPv4Address):
        return next((name for network, name in _V4 if address in network), "")
    bare = ipaddress.IPv6Address(int(address))  # without a zone
    for inner in embedded(bare):
        if name := why_special(inner):
            return name
    if bare in _MAPPED or bare in _NAT64:
        return ""
    named = next((name for network, name in _V6 if bare in network), "")
    return named or ("" if bare in _UNICAST else "a reserved address")


def embedded(address: ipaddress.IPv6Address) -> Iterator[ipaddress.IPv4Address]:
    """The IPv4 addresses that routers and tunnels would read out of an IPv6 one.

    Mapped and compatible (RFC 4291), NAT64 (RFC 6052, RFC 8215), 6to4 (RFC 3056), Teredo
    (RFC 4380: server and client) and ISATAP (RFC 5214).
    """
    bits = int(address)
    if any(address in network for network in _IN_THE_END) and bits > 1:
        yield _v4(bits)
    elif address in _SIX_TO_FOUR:
        yield _v4(bits >> 80)
    elif address in _TEREDO:
        yield _v4(bits >> 64)
        yield _v4(~bits)
    if (bits >> 32) & 0xFFFF_FFFF in _ISATAP:
        yield _v4(bits)


def _v4(bits: int) -> ipaddress.IPv4Address:
    return ipaddress.IPv4Address(bits & 0xFFFF_FFFF)
