"""HTTP to models: the only module that imports httpx."""

from __future__ import annotations

import ssl
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Iterable, Mapping
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field, replace
from functools import lru_cache
from pathlib import Path
from typing import Any, Protocol, TypeVar

import anyio
import httpx

from octo_lab.core.errors import (
    CassetteMismatch,
    ConfigError,
    OctoError,
    StreamCut,
    TimedOut,
    Unavailable,
)
from octo_lab.llm.address import check_address, no_address, shown_host
from octo_lab.llm.cassette import CassetteHeader, Exchange, Player, Recorder, TapeUse, read_cassette
from octo_lab.llm.errors import error_from_reply, shown
from octo_lab.llm.proxies import Proxies
from octo_lab.llm.secret import Secret

REFUSAL_SECONDS = 5.0
MAX_REST = 1_048_576
# httpcore scans all connections of a pool for each at every open and close: 200 streams in pools
# of 4 cost a quarter less than in pools of 20, and hold the loop up a third as long.
STREAMS_PER_POOL = 4
_LIMITS = httpx.Limits(keepalive_expiry=60)


@dataclass(frozen=True, slots=True, kw_only=True)
class HttpTimeouts:
    """Seconds: to connect, and of silence while an answer is awaited or streams."""

    connect: float = 10.0
    read: float = 300.0


@dataclass(frozen=True, slots=True, kw_only=True)
class HttpCall:
    """A request to a model server, a POST of JSON; ``provider`` and ``model`` name it in errors.

    A ``content-type`` among the headers says what other body it is. What is not ``taped`` is
    kept by no cassette, and fails while one is replayed.
    """

    provider: str
    model: str
    url: str
    body: bytes = field(default=b"", repr=False)
    method: str = "POST"
    headers: Mapping[str, str] = field(default_factory=dict, repr=False)
    api_key: Secret | None = None
    taped: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class HttpReply:
    """An answer that has begun: its body comes in the pieces the network delivers."""

    content_type: str
    parts: AsyncIterator[bytes]

    async def rest(self, patience: float) -> list[bytes]:
        """What is left of the body until its end, an error or ``patience`` seconds.

        Read to its end an answer leaves its connection for the next call.
        """
        rest: list[bytes] = []
        size = 0
        with suppress(httpx.HTTPError), anyio.move_on_after(patience):
            async for part in self.parts:
                rest.append(part)
                size += len(part)
                if size > MAX_REST:
                    break
        return rest


class Companion(Protocol):
    """What is needed as long as the connections are."""

    async def aclose(self) -> None: ...


C = TypeVar("C", bound=Companion)


class ModelHttp:
    """All HTTP to models, in one event loop; live, recorded to a cassette without ``secrets``, or
    replayed.

    Whoever makes it closes it: ``async with ModelHttp() as http``.
    """

    def __init__(
        self,
        timeouts: HttpTimeouts = HttpTimeouts(),
        *,
        proxies: Proxies = Proxies(),
        secrets: Iterable[str] = (),
    ) -> None:
        self._timeouts = timeouts
        self._proxies, self._secrets = proxies, secrets
        self._tls: ssl.SSLContext | None = None
        self._pools: list[_Pool] = []
        self._tape: Recorder | Player | None = None
        self._companions: dict[object, Companion] = {}

    async def __aenter__(self) -> ModelHttp:
        return self

    async def __aexit__(self, *_exc: object) -> None:
        await self.aclose()

    async def aclose(self) -> None:
        companions, self._companions = self._companions, {}
        for companion in companions.values():
            await companion.aclose()
        pools, self._pools = self._pools, []
        for pool in pools:
            await pool.client.aclose()

    def companion(self, make: Callable[[], C]) -> C:
        """What ``make`` gave the first time: a server's process, say. It is closed with this."""
        if make not in self._companions:
            self._companions[make] = make()
        found: Any = self._companions[make]
        kept: C = found
        return kept

    async def record(self, path: Path) -> None:
        """From now on keep all traffic in ``path``, a new cassette; raises ConfigError."""
        self._tape = await anyio.to_thread.run_sync(Recorder.create, path, self._secrets)

    async def replay(self, path: Path) -> CassetteHeader:
        """From now on answer from ``path``, without network; raises ConfigError."""
        player = Player(await anyio.to_thread.run_sync(read_cassette, path), path)
        self._tape = player
        return player.header

    def live(self) -> None:
        """End recording or replaying."""
        self._tape = None

    @property
    def tape(self) -> TapeUse | None:
        """What is being recorded or replayed."""
        return self._tape.use if self._tape else None

    @property
    def patience(self) -> float:
        """Seconds of silence that are borne."""
        return self._timeouts.read

    @property
    def replaying(self) -> bool:
        return isinstance(self._tape, Player)

    async def get(self, call: HttpCall, patience: float) -> bytes:
        """A small answer to a GET, which no cassette keeps; raises as ``stream`` does."""
        async with self.stream(replace(call, method="GET")) as reply:
            return b"".join(await reply.rest(patience))

    @asynccontextmanager
    async def stream(self, call: HttpCall) -> AsyncGenerator[HttpReply]:
        """Send the call and open its answer; leaving closes the connection at once.

        Raises the typed error of an answer other than 2xx, Unavailable or StreamCut when the
        transport fails, also while the body is read inside the context.
        """
        check_address(call.provider, call.url)
        pool = await self._pool(call.url)
        pool.streams += 1
        begun = False
        tape = self._tape if call.method == "POST" and call.taped else None
        if self.replaying and not call.taped:
            raise CassetteMismatch(
                f"A cassette holds no answers of {call.provider!r} to this", hint="end the replay"
            )
        try:
            url = _parsed(call.url)
            async with pool.client.stream(call.method, url, **_request(call, tape)) as got:
                if not got.is_success:
                    raise await _refusal(call, got)
                begun = True
                yield HttpReply(content_type=got.headers.get("content-type", ""), parts=_body(got))
        except (httpx.HTTPError, httpx.InvalidURL) as exc:
            proxy = pool.way.proxy
            raise _translate(call, exc, self._timeouts, begun=begun, proxy=proxy) from exc
        finally:
            pool.streams -= 1

    async def _pool(self, url: str) -> _Pool:
        proxy = None if self.replaying else self._proxies.between(url)
        way = _Way(secure=url.startswith("https:"), proxy=proxy)
        if self._tls is None and (way.secure or way.secure_proxy):
            # Certificates are read from disk: 20 ms that plain HTTP never pays.
            self._tls = await anyio.to_thread.run_sync(httpx.create_ssl_context)
        fitting = [pool for pool in self._pools if pool.way == way]
        free = next((pool for pool in fitting if pool.streams < STREAMS_PER_POOL), None)
        if free is None:
            free = _Pool(way=way, client=self._client(way))
            self._pools.append(free)
        return free

    def _client(self, way: _Way) -> httpx.AsyncClient:
        tls = self._tls if way.secure_proxy else None
        live = httpx.AsyncHTTPTransport(
            verify=(self._tls or True) if way.secure else False,
            proxy=httpx.Proxy(way.proxy, ssl_context=tls) if way.proxy else None,
            limits=_LIMITS,
        )
        timeout = httpx.Timeout(self._timeouts.read, connect=self._timeouts.connect)
        return httpx.AsyncClient(transport=Taped(live), timeout=timeout, trust_env=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Way:
    """How a server is reached; ``proxy`` may hold a password."""

    secure: bool
    proxy: str | None = field(repr=False)

    @property
    def secure_proxy(self) -> bool:
        return self.proxy is not None and self.proxy.startswith("https:")


@dataclass(slots=True, kw_only=True)
class _Pool:
    way: _Way
    client: httpx.AsyncClient
    streams: int = 0


class Taped(httpx.AsyncBaseTransport):
    """A transport that records to, or replays from, the tape a request carries, if any."""

    def __init__(self, live: httpx.AsyncBaseTransport) -> None:
        self._live = live

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        match request.extensions.get("tape"):
            case Player() as player:
                return _replayed(player.answer(request.url.path, request.content))
            case Recorder() as recorder:
                return await self._recorded(request, recorder)
            case _:
                return await self._sent(request)

    async def _recorded(self, request: httpx.Request, recorder: Recorder) -> httpx.Response:
        order = recorder.number()
        response = await self._sent(request)
        exchange = recorder.begin(
            order=order,
            url=str(request.url),
            body=request.content,
            source=request.extensions["source"],
            status=response.status_code,
            headers=dict(response.headers),
        )
        stream = _RecordedStream(response, recorder, exchange)
        headers = httpx.Headers(response.headers)
        headers.pop("content-encoding", None)  # the stream is unpacked
        return httpx.Response(
            response.status_code, headers=headers, stream=stream, extensions=response.extensions
        )

    async def _sent(self, request: httpx.Request) -> httpx.Response:
        """Sent anew where a kept connection is found closed, as servers do with idle ones."""
        while True:
            request.extensions["trace"] = way = _Connecting()
            try:
                return await self._live.handle_async_request(request)
            except (httpx.RemoteProtocolError, httpx.ReadError, httpx.WriteError):
                if way.fresh:
                    raise

    async def aclose(self) -> None:
        await self._live.aclose()


class _Connecting:
    """Notes whether a request got a connection of its own, which no other had used."""

    def __init__(self) -> None:
        self.fresh = False

    async def __call__(self, event: str, _info: object) -> None:
        self.fresh = self.fresh or event.startswith("connection.connect")


class _RecordedStream(httpx.AsyncByteStream):
    def __init__(self, response: httpx.Response, recorder: Recorder, exchange: Exchange) -> None:
        self._response = response
        self._recorder = recorder
        self._exchange = exchange

    async def __aiter__(self) -> AsyncIterator[bytes]:
        try:
            async for part in _body(self._response):
                self._exchange.parts.append(part)
                yield part
        except httpx.HTTPError:
            self._exchange.cut = True
            raise

    async def aclose(self) -> None:
        await self._response.aclose()
        with anyio.CancelScope(shield=True):
            await anyio.to_thread.run_sync(self._recorder.keep, self._exchange)


class _ReplayedStream(httpx.AsyncByteStream):
    def __init__(self, exchange: Exchange) -> None:
        self._exchange = exchange

    async def __aiter__(self) -> AsyncIterator[bytes]:
        for part in self._exchange.parts:
            await anyio.lowlevel.checkpoint()
            yield part
        if self._exchange.cut:
            raise httpx.ReadError("the recorded answer was cut here")


def _replayed(exchange: Exchange) -> httpx.Response:
    return httpx.Response(
        exchange.status, headers=exchange.headers, stream=_ReplayedStream(exchange)
    )


@lru_cache(maxsize=64)
def _parsed(url: str) -> httpx.URL:
    """An address is the same from call to call, and a tenth of a call's time to read."""
    return httpx.URL(url)


def _request(call: HttpCall, tape: Recorder | Player | None) -> dict[str, Any]:
    headers = {
        "content-type": "application/json",
        "accept": "text/event-stream",
        "accept-encoding": "identity",
        **call.headers,
    }
    if not all(value.isascii() and value.isprintable() for value in headers.values()):
        raise ConfigError(
            f"The key of {call.provider!r} holds characters that no key has",
            hint="copy it again, without line breaks or quotes",
        )
    if tape is None:
        return {"content": call.body, "headers": headers}
    extensions = {"tape": tape, "source": (call.provider, call.model, call.api_key)}
    return {"content": call.body, "headers": headers, "extensions": extensions}


def _body(response: httpx.Response) -> AsyncIterator[bytes]:
    """The body as it arrives; unpacked only when a server packs it although asked not to."""
    if "content-encoding" in response.headers or not isinstance(
        response.stream, httpx.AsyncByteStream
    ):
        return response.aiter_bytes()
    return aiter(response.stream)


async def _refusal(call: HttpCall, response: httpx.Response) -> OctoError:
    reply = HttpReply(content_type="", parts=_body(response))
    body = b"".join(await reply.rest(REFUSAL_SECONDS))
    return error_from_reply(
        call.provider, response.status_code, response.headers, body, call.api_key
    )


def _translate(
    call: HttpCall, exc: Exception, timeouts: HttpTimeouts, *, begun: bool, proxy: str | None
) -> OctoError:
    where = shown_host(call.url)
    if isinstance(exc, httpx.InvalidURL | httpx.UnsupportedProtocol):
        return no_address(call.provider, call.url)
    if isinstance(exc, httpx.ReadTimeout):
        return TimedOut(f"{call.provider!r} sent nothing for {timeouts.read:g} s", hint="try again")
    if isinstance(exc, httpx.ConnectTimeout):
        exc = httpx.ConnectTimeout(f"no connection within {timeouts.connect:g} s")
    if begun:
        return StreamCut(f"The answer of {call.provider!r} was cut off", hint="ask again")
    reason = shown(str(exc) or "the connection broke", call.api_key)
    hint = "is the server running, and the base URL right?"
    if proxy is not None:
        reason = f"{reason} (by the proxy {shown_host(proxy)})"
        hint = "is the proxy right? a host in NO_PROXY is reached directly"
    kind = TimedOut if isinstance(exc, httpx.ConnectTimeout) else Unavailable
    return kind(f"{call.provider!r} cannot be reached at {where!r}: {reason}", hint=hint)
