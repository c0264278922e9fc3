"""Reads what a program asks of the forward proxy, and writes what the server is asked."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, field

from octo_lab.core.errors import ToolDenied, ToolFailed
from octo_lab.security.net.urls import parse_authority, parse_url

END = b"\r\n\r\n"
MAX_HEAD = 65_536
_FIRST = re.compile(r"([A-Z]{1,20}) (\S+) HTTP/1\.[01]")
_FIELD = re.compile(r"([!#$%&'*+.^_`|~0-9A-Za-z-]+):[ \t]*([^\x00-\x08\x0a-\x1f\x7f]*)")
_HOP = frozenset(
    {"host", "connection", "keep-alive", "proxy-authorization", "proxy-connection", "te"}
    | {"trailer", "upgrade"}
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """Where a program wants to go. ``forwarded`` is what the server is sent first."""

    host: str
    port: int
    tunnel: bool
    credential: str = field(default="", repr=False)
    forwarded: bytes = field(default=b"", repr=False)


def parse_head(data: bytes) -> Asked:
    """``data`` is a head with its blank line, and what came of the body.

    Raises ToolDenied for where nobody may go, ToolFailed for what is no request.
    """
    head, _, rest = data.partition(END)
    first, *lines = head.decode("latin-1").split("\r\n")
    match = _FIRST.fullmatch(first)
    if match is None:
        raise ToolFailed("The proxy was sent no request that it understands")
    fields = _fields(lines)
    credential = next((value for name, value in fields if name == "proxy-authorization"), "")
    if match[1] == "CONNECT":
        host, port = parse_authority(match[2])
        return Asked(host=host, port=port, tunnel=True, credential=credential, forwarded=rest)
    target = parse_url(match[2])
    if target.scheme != "http":
        raise ToolDenied("The proxy fetches http addresses only", hint="use CONNECT for https")
    asked = [f"{match[1]} {target.path} HTTP/1.1", f"Host: {target.authority}", *_kept(fields)]
    sent = "\r\n".join([*asked, "Connection: close", "", ""]).encode("latin-1") + rest
    return Asked(
        host=target.host, port=target.port, tunnel=False, credential=credential, forwarded=sent
    )


def _fields(lines: list[str]) -> list[tuple[str, str]]:
    found = [_FIELD.fullmatch(line) for line in lines]
    if not all(found):
        raise ToolFailed("The proxy was sent a header that it does not understand")
    return [(match[1].lower(), match[2].strip()) for match in found if match]


def _kept(fields: Iterable[tuple[str, str]]) -> list[str]:
    return [f"{name}: {value}" for name, value in fields if name not in _HOP]
