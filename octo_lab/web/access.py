"""Who may talk to the gateway: the bearer token, and the names it answers to."""

from __future__ import annotations

import hmac
import ipaddress
import re
import secrets
import socket
from collections.abc import Mapping
from dataclasses import dataclass, field
from urllib.parse import urlsplit

from starlette.datastructures import Headers
from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Receive, Scope, Send

from octo_lab.core.errors import ConfigError

TOKEN_VARIABLE = "OCTO_GATEWAY_TOKEN"
SHORTEST_TOKEN = 16
_WORD = re.compile(r"[!-~]+")
_OPEN_PATHS = frozenset({"/health"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Refusal:
    status: int
    error: str
    hint: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Access:
    """The rule for every request; ``names`` are host names beside ``localhost``.

    An address in the Host header is always fine: DNS rebinding needs a name.
    """

    token: str = field(repr=False)
    names: frozenset[str] = frozenset()

    def refusal(self, path: str, headers: Mapping[str, str]) -> Refusal | None:
        host = headers.get("host", "")
        origin = headers.get("origin")
        if not self._knows(host):
            return Refusal(status=421, error="Unknown host", hint="use 127.0.0.1 or localhost")
        if origin is not None and origin.partition("://")[2] != host:
            return Refusal(status=403, error="Foreign origin", hint="call from this host's page")
        if path not in _OPEN_PATHS and not self._admits(headers.get("authorization", "")):
            hint = "send 'Authorization: Bearer TOKEN'; the token is in gateway.json"
            return Refusal(status=401, error="No valid token", hint=hint)
        return None

    def _knows(self, host: str) -> bool:
        name = _host_name(host)
        return name == "localhost" or name in self.names or _is_address(name)

    def _admits(self, authorization: str) -> bool:
        scheme, _, token = authorization.partition(" ")
        given = hmac.compare_digest(token.strip().encode(), self.token.encode())
        return given and scheme.lower() == "bearer"


def choose_access(host: str, environ: Mapping[str, str]) -> Access:
    """The rule for serving on ``host``; raises ConfigError when it would be open to strangers.

    On loopback a fresh token is made; it lies in a file only its owner can read. Any other
    host needs a token the owner chose, for it must reach the other machines somehow.
    """
    token = environ.get(TOKEN_VARIABLE, "")
    if is_loopback(host) and not token:
        return Access(token=secrets.token_urlsafe(32))
    if not token:
        raise ConfigError(
            f"The gateway does not listen on {host!r} without a token of your own",
            hint=f"set {TOKEN_VARIABLE} to {SHORTEST_TOKEN} characters or more, "
            "or use --host 127.0.0.1",
        )
    if len(token) < SHORTEST_TOKEN or not _WORD.fullmatch(token):
        raise ConfigError(
            f"{TOKEN_VARIABLE} holds no token that can be sent",
            hint=f"{SHORTEST_TOKEN} or more ASCII letters, digits and signs, without blanks",
        )
    if is_loopback(host):
        return Access(token=token)
    return Access(token=token, names=frozenset({host.lower(), socket.gethostname().lower()}))


def is_loopback(host: str) -> bool:
    return host == "localhost" or (_is_address(host) and ipaddress.ip_address(host).is_loopback)


def _is_address(name: str) -> bool:
    try:
        ipaddress.ip_address(name)
    except ValueError:
        return False
    return True


def _host_name(host: str) -> str:
    """The name in a Host header: without port, brackets, and a dot at the end."""
    try:
        name = urlsplit(f"//{host}").hostname or ""
    except ValueError:
        return ""
    return name.rstrip(".")


@dataclass(frozen=True, slots=True)
class Guarded:
    """An ASGI app behind an Access."""

    app: ASGIApp
    access: Access

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        refusal = None
        if scope["type"] in {"http", "websocket"}:
            refusal = self.access.refusal(scope["path"], Headers(scope=scope))
        if refusal is None:
            await self.app(scope, receive, send)
        else:
            await _refuse(refusal, scope, receive, send)


async def _refuse(refusal: Refusal, scope: Scope, receive: Receive, send: Send) -> None:
    """Answer in HTTP, also to a WebSocket that asks to be opened (ASGI's denial response)."""
    body = {"error": refusal.error, "hint": refusal.hint}
    headers = {"WWW-Authenticate": "Bearer"} if refusal.status == 401 else None
    response = JSONResponse(body, status_code=refusal.status, headers=headers)
    await response(scope, receive, send)
