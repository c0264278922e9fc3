"""Reads the address of a web page strictly, and the host in it as connecting would."""

from __future__ import annotations

import ipaddress
import re
from dataclasses import dataclass
from urllib.parse import quote, unquote_to_bytes, urljoin

import idna

from octo_lab.core.errors import ToolDenied, ToolFailed
from octo_lab.security.net.addresses import Address

MAX_URL = 8_192
PORTS = {"http": 80, "https": 443}
_URL = re.compile(r"([a-z][a-z0-9+.-]*):(?://([^/?#]*)([^#]*))?", re.IGNORECASE)
_LABEL = re.compile(r"[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?")
_NUMBER = re.compile(r"0[xX][0-9a-fA-F]*|[0-9]+")
_SAFE = "/?:@!$&'()*+,;=%[]~-._|"


@dataclass(frozen=True, slots=True, kw_only=True)
class Target:
    """Where a request goes. ``host`` is in ASCII and lower case, an IPv6 one without brackets."""

    scheme: str
    host: str
    port: int
    path: str

    @property
    def authority(self) -> str:
        """As in a ``Host`` header: the port is named where it is not the scheme's own."""
        return self.place if self.port != PORTS[self.scheme] else shown_host(self.host)

    @property
    def place(self) -> str:
        """Host and port, as they are written in the settings."""
        return f"{shown_host(self.host)}:{self.port}"

    @property
    def origin(self) -> str:
        return f"{self.scheme}://{self.authority}"

    @property
    def url(self) -> str:
        return f"{self.origin}{self.path}"


def parse_url(url: str) -> Target:
    """Raises ToolDenied for what may not be fetched, ToolFailed for what is no address."""
    url = url.strip()
    if len(url) > MAX_URL:
        raise ToolFailed(f"The URL is longer than {MAX_URL} characters")
    if any(ord(char) < 0x21 or ord(char) == 0x7F or char == "\\" for char in url):
        raise _bad("it has a blank, a control character or a backslash", hint="write them as %20")
    match = _URL.match(url)
    scheme = match[1].lower() if match else ""
    if match is None or (scheme in PORTS and not match[2]):
        raise _bad("it names no host", hint="write it as https://host/path")
    if scheme not in PORTS:
        raise ToolDenied(f"{scheme}: addresses may not be fetched", hint="only http and https may")
    host, port = parse_authority(match[2], PORTS[scheme])
    rest = match[3] if match[3].startswith("/") else f"/{match[3]}"
    return Target(scheme=scheme, host=host, port=port, path=_ascii(rest))


def parse_authority(authority: str, default: int | None = None) -> tuple[str, int]:
    """Host and port of ``host:port``; without a port it is ``default``, if there is one.

    Raises ToolDenied and ToolFailed as ``parse_url`` does.
    """
    if "@" in authority:
        raise ToolDenied(
            "A name or password may stand in no URL", hint="leave out what is before the @"
        )
    if authority.startswith("["):
        inner, closed, rest = authority[1:].partition("]")
        if not closed or (rest and not rest.startswith(":")):
            raise _bad("its IPv6 address is not closed")
        return _v6(inner), _port(rest[1:], default)
    host, _, port = authority.partition(":")
    return parse_host(host), _port(port, default)


def parse_host(host: str) -> str:
    """A name or IPv4 address in the one form that connecting would use.

    Percent signs, other scripts, full-width characters and a last dot go (as in the URL standard
    of WHATWG), IPv4 in short, octal or hexadecimal form becomes the usual one.
    """
    name = _in_ascii(_unquoted(host)).lower().removesuffix(".")
    labels = name.split(".")
    if len(name) > 253 or not all(_LABEL.fullmatch(label) for label in labels):
        raise _bad(f"{host[:80]!r} is no host")
    if _NUMBER.fullmatch(labels[-1]):
        return str(_v4(labels, host))
    return name


def as_address(host: str) -> Address | None:
    """The address that a parsed host is, if it is not a name."""
    try:
        return ipaddress.ip_address(host)
    except ValueError:
        return None


def joined(base: Target, location: str) -> Target:
    """Where a redirect leads; raises as ``parse_url`` does."""
    try:
        return parse_url(urljoin(base.url, location.strip().replace(" ", "%20")))
    except ValueError:
        raise _bad("a redirect leads to it") from None


def shown_host(host: str) -> str:
    return f"[{host}]" if ":" in host else host


def _unquoted(host: str) -> str:
    if "%" not in host:
        return host
    try:
        return unquote_to_bytes(host).decode()
    except UnicodeDecodeError:
        raise _bad(f"{host[:80]!r} is no host") from None


def _in_ascii(host: str) -> str:
    if host.isascii():
        return host
    try:
        mapped = idna.uts46_remap(host, std3_rules=False, transitional=False)
        return mapped if mapped.isascii() else idna.encode(mapped, uts46=True).decode()
    except (idna.IDNAError, UnicodeError, IndexError):
        raise _bad(f"{host[:80]!r} is no host") from None


def _v4(labels: list[str], host: str) -> ipaddress.IPv4Address:
    """One to four numbers; the last fills what is left, as ``inet_aton`` has it."""
    try:
        *first, last = [_number(label) for label in labels]
        if len(first) > 3 or any(part > 255 for part in first) or last >= 256 ** (4 - len(first)):
            raise ValueError(host)
    except ValueError:
        raise _bad(f"{host[:80]!r} is no IPv4 address") from None
    high = sum(part << (24 - 8 * place) for place, part in enumerate(first))
    return ipaddress.IPv4Address(high + last)


def _number(label: str) -> int:
    if not _NUMBER.fullmatch(label) or len(label) > 40:
        raise ValueError(label)
    if label[:2] in ("0x", "0X"):
        return int(label[2:] or "0", 16)
    return int(label, 8) if label.startswith("0") else int(label)


def _v6(text: str) -> str:
    if "%" in text:
        raise _bad("its IPv6 address names a zone")
    try:
        return str(ipaddress.IPv6Address(text))
    except ValueError:
        raise _bad(f"{text[:80]!r} is no IPv6 address") from None


def _port(text: str, default: int | None) -> int:
    if not text and default is not None:
        return default
    if re.fullmatch(r"[0-9]{1,5}", text) and 0 < int(text) < 65_536:
        return int(text)
    raise _bad(f"{text[:20]!r} is no port")


def _ascii(rest: str) -> str:
    try:
        return quote(rest, safe=_SAFE)
    except UnicodeEncodeError:
        raise _bad("it has half a character") from None


def _bad(why: str, *, hint: str = "") -> ToolFailed:
    return ToolFailed(f"The URL cannot be used: {why}", hint=hint)
