"""Which proxy a request goes through, as the usual variables say; loopback goes through none."""

from __future__ import annotations

import ipaddress
from collections.abc import Mapping
from dataclasses import dataclass, field
from urllib.parse import urlsplit

from octo_lab.core.errors import ConfigError

Address = ipaddress.IPv4Address | ipaddress.IPv6Address


@dataclass(frozen=True, slots=True)
class Proxies:
    """Reads ``HTTPS_PROXY``, ``HTTP_PROXY``, ``ALL_PROXY`` and ``NO_PROXY``, in either case."""

    environ: Mapping[str, str] = field(default_factory=dict, repr=False)

    def between(self, url: str) -> str | None:
        """The proxy's own URL, or None for the direct way; raises ConfigError."""
        scheme = url.partition("://")[0]
        for name in (f"{scheme}_proxy", "all_proxy"):
            proxy = self._value(name)
            if proxy:
                return None if self._direct(url) else _checked(name, proxy)
        return None

    def _value(self, name: str) -> str:
        return (self.environ.get(name) or self.environ.get(name.upper()) or "").strip()

    def _direct(self, url: str) -> bool:
        try:
            parts = urlsplit(url)
            host, port = (parts.hostname or "").rstrip("."), parts.port
        except ValueError:
            return True  # no address at all: whoever connects says so
        address = _address(host)
        if host == "localhost" or host.endswith(".localhost"):
            return True
        if address is not None and (address.is_loopback or address.is_unspecified):
            return True
        exceptions = self._value("no_proxy").lower().replace(",", " ").split()
        return any(_excepts(entry, host, address, port) for entry in exceptions)


def _excepts(entry: str, host: str, address: Address | None, port: int | None) -> bool:
    """Whether an entry of ``NO_PROXY`` names the host: a domain, an address, a network, ``*``."""
    if entry == "*":
        return True
    if address is not None:
        return _covers(entry, address)
    name, _, only = entry.partition(":")
    domain = name.removeprefix("*").removeprefix(".")
    fits = host == domain or host.endswith(f".{domain}")
    return bool(domain) and fits and (not only or only == str(port))


def _covers(entry: str, address: Address) -> bool:
    try:
        return address in ipaddress.ip_network(entry.strip("[]"), strict=False)
    except ValueError:
        return False


def _address(host: str) -> Address | None:
    try:
        return ipaddress.ip_address(host)
    except ValueError:
        return None


def _checked(name: str, proxy: str) -> str:
    """The URL of an HTTP proxy; ``host:port`` alone means ``http://``."""
    url = proxy if "://" in proxy else f"http://{proxy}"
    try:
        parts = urlsplit(url)
        usable = parts.scheme in ("http", "https") and parts.hostname and parts.port != 0
    except ValueError:
        usable = False
    if not usable:
        raise ConfigError(
            f"{name.upper()} names no proxy that can be used",
            hint="it looks like http://host:port; socks is not supported",
        )
    return url
