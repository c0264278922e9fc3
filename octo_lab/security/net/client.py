"""The one HTTP client for addresses that strangers or models name."""

from __future__ import annotations

import re
import ssl
from collections.abc import AsyncIterable, Callable, Iterable, Mapping
from dataclasses import replace

import anyio
import anyio.to_thread
import httpcore

from octo_lab.core.errors import ToolDenied, ToolFailed
from octo_lab.security.net.body import ENCODINGS, read_body
from octo_lab.security.net.dial import Dialer
from octo_lab.security.net.ports import WebRequest, WebResponse
from octo_lab.security.net.urls import Target, joined, parse_url

USER_AGENT = "octo_lab/0.1 (+https://pypi.org/project/octo-lab/)"
CLOSE_SECONDS = 2.0
_METHODS = frozenset({"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"})
_REDIRECTS = frozenset({301, 302, 303, 307, 308})
_OURS = frozenset(
    {"accept-encoding", "connection", "content-length", "expect", "host", "keep-alive", "te"}
    | {"proxy-authorization", "proxy-connection", "trailer", "transfer-encoding", "upgrade"}
)
# What may follow a redirect to another origin; all else could be a credential.
_HARMLESS = frozenset({"accept", "accept-language", "content-type", "user-agent"})
_TOKEN = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")
_BROKEN = (httpcore.NetworkError, httpcore.ProtocolError, httpcore.TimeoutException)


class GuardedClient:
    """A Fetcher: each hop is resolved once, checked, and connected to at what was checked.

    Reads no variables: proxies are used only as the dialer was told. ``tls`` makes the context
    that checks certificates.
    """

    def __init__(
        self,
        dialer: Dialer = Dialer(),
        *,
        tls: Callable[[], ssl.SSLContext] = httpcore.default_ssl_context,
    ) -> None:
        self._dialer = dialer
        self._make_tls = tls
        self._tls: ssl.SSLContext | None = None

    async def fetch(self, request: WebRequest) -> WebResponse:
        target = parse_url(request.url)
        request = replace(request, headers=_checked(request))
        if self._tls is None:
            self._tls = await anyio.to_thread.run_sync(self._make_tls)
        try:
            with anyio.fail_after(request.timeout):
                return await self._within_time(request, target, self._tls)
        except TimeoutError:
            raise ToolFailed(
                f"{target.origin!r} was not done within {request.timeout:g} s"
            ) from None
        except _BROKEN as exc:
            raise ToolFailed(f"{target.origin!r} gave no proper answer: {_why(exc)}") from exc

    async def _within_time(
        self, request: WebRequest, target: Target, tls: ssl.SSLContext
    ) -> WebResponse:
        backend = _Backend(self._dialer)
        pool = httpcore.AsyncConnectionPool(ssl_context=tls, network_backend=backend)
        try:
            for _ in range(request.redirects + 1):
                response = await _exchange(pool, request, target)
                location = response.headers.get("location", "")
                if response.status not in _REDIRECTS or not location or not request.redirects:
                    return response
                request, target = _next(request, target, response.status, location)
        finally:
            with anyio.move_on_after(CLOSE_SECONDS, shield=True):
                await pool.aclose()
        raise ToolFailed(f"{target.origin!r} redirects more than {request.redirects} times")


class _Backend(httpcore.AsyncNetworkBackend):
    """Where httpcore would connect to a name, the dialer does."""

    def __init__(self, dialer: Dialer) -> None:
        self._dialer = dialer

    async def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,  # noqa: ASYNC109 - httpcore's port
        local_address: str | None = None,
        socket_options: Iterable[httpcore.SOCKET_OPTION] | None = None,
    ) -> httpcore.AsyncNetworkStream:
        return await self._dialer.dial(host, port)

    async def sleep(self, seconds: float) -> None:
        await anyio.sleep(seconds)


async def _exchange(
    pool: httpcore.AsyncConnectionPool, request: WebRequest, target: Target
) -> WebResponse:
    """One request and its answer, without redirects."""
    url = httpcore.URL(scheme=target.scheme, host=target.host, port=target.port, target=target.path)
    async with pool.stream(
        request.method, url, headers=_sent(request, target), content=request.body or None
    ) as response:
        headers = _received(response.headers)
        assert isinstance(response.stream, AsyncIterable)
        encoding = headers.get("content-encoding", "")
        body, cut = b"", False
        if request.method != "HEAD" and response.status not in (204, 304):
            body, cut = await read_body(response.stream, encoding, request.limit)
    return WebResponse(url=target.url, status=response.status, headers=headers, body=body, cut=cut)


def _sent(request: WebRequest, target: Target) -> list[tuple[str, str]]:
    defaults = {"user-agent": USER_AGENT, "accept": "*/*"}
    own = {"host": target.authority, "accept-encoding": ENCODINGS}
    if request.body or request.method in ("POST", "PUT", "PATCH"):
        own["content-length"] = str(len(request.body))
    return list({**defaults, **request.headers, **own}.items())


def _received(headers: Iterable[tuple[bytes, bytes]]) -> dict[str, str]:
    found: dict[str, str] = {}
    for raw, value in headers:
        name = raw.decode("latin-1").lower()
        text = value.decode("utf-8", "replace")
        found[name] = f"{found[name]}, {text}" if name in found else text
    return found


def _checked(request: WebRequest) -> dict[str, str]:
    """The headers, by name in lower case; raises ToolDenied and ToolFailed."""
    if request.method not in _METHODS:
        raise ToolDenied(
            f"The method {request.method[:20]!r} may not be used",
            hint=f"these may: {', '.join(sorted(_METHODS))}",
        )
    headers = {name.lower(): value for name, value in request.headers.items()}
    for name, value in headers.items():
        if name in _OURS:
            raise ToolDenied(f"The header {name!r} may not be set", hint="leave it out")
        if not _TOKEN.fullmatch(name) or not value.isascii() or not value.isprintable():
            raise ToolFailed(f"The header {name[:40]!r} cannot be sent", hint="use plain ASCII")
    return headers


def _next(
    request: WebRequest, target: Target, status: int, location: str
) -> tuple[WebRequest, Target]:
    """What a redirect asks for, by the rules of the Fetch standard; raises ToolDenied."""
    new = joined(target, location)
    if (target.scheme, new.scheme) == ("https", "http"):
        raise ToolDenied(
            f"{target.origin!r} redirects from https to http, to {new.origin!r}",
            hint="ask for the http address itself if it is good enough",
        )
    headers = _following(request.headers, same=new.origin == target.origin)
    as_get = (status == 303 and request.method != "HEAD") or (
        status in (301, 302) and request.method == "POST"
    )
    if as_get:
        headers.pop("content-type", None)
        request = replace(request, method="GET", body=b"")
    return replace(request, headers=headers), new


def _following(headers: Mapping[str, str], *, same: bool) -> dict[str, str]:
    return {name: value for name, value in headers.items() if same or name in _HARMLESS}


def _why(exc: Exception) -> str:
    """One line of what broke, such as a certificate that does not fit."""
    said = str(exc).strip().splitlines()
    return said[0][:200] if said else type(exc).__name__
