"""The places that are not public and may be reached all the same, as the owner listed them."""

from __future__ import annotations

import ipaddress
from collections.abc import Iterable
from dataclasses import dataclass

from octo_lab.core.errors import ConfigError, ToolFailed
from octo_lab.security.net.addresses import Address
from octo_lab.security.net.urls import as_address, parse_authority

Network = ipaddress.IPv4Network | ipaddress.IPv6Network


@dataclass(frozen=True, slots=True, kw_only=True)
class AllowedPlaces:
    """``hosts`` are pairs of host and port (``None``: any); ``networks`` hold on any port."""

    hosts: frozenset[tuple[str, int | None]] = frozenset()
    networks: tuple[Network, ...] = ()

    def names(self, host: str, port: int) -> bool:
        """Whether the host itself is listed, whatever it resolves to."""
        return bool({(host, port), (host, None)} & self.hosts)

    def holds(self, address: Address, port: int) -> bool:
        """Whether the address is in a listed network, or listed itself."""
        return self.names(str(address), port) or any(
            address in network for network in self.networks
        )


def read_allowed(entries: Iterable[str]) -> AllowedPlaces:
    """``host``, ``host:port``, ``[v6]:port`` or a network as ``10.1.0.0/16``.

    Raises ConfigError.
    """
    hosts: set[tuple[str, int | None]] = set()
    networks: list[Network] = []
    for entry in map(str.strip, entries):
        if "/" in entry:
            networks.append(_network(entry))
        else:
            hosts.add(_host(entry))
    return AllowedPlaces(hosts=frozenset(hosts), networks=tuple(networks))


def _network(entry: str) -> Network:
    try:
        return ipaddress.ip_network(entry)
    except ValueError as exc:
        raise _wrong(entry) from exc


def _host(entry: str) -> tuple[str, int | None]:
    address = as_address(entry)
    if address is not None:
        return str(address), None
    try:
        host, port = parse_authority(entry, 0)
    except ToolFailed as exc:
        raise _wrong(entry) from exc
    return host, port or None


def _wrong(entry: str) -> ConfigError:
    return ConfigError(
        f"network.allow names {entry!r}, which is neither a host nor a network",
        hint='write "host", "host:port" or a network such as "10.1.0.0/16"',
    )
