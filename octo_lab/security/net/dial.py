"""Opens connections, only to addresses that were checked."""

from __future__ import annotations

import base64
from collections.abc import Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass, field
from urllib.parse import unquote, urlsplit

import anyio
import httpcore

from octo_lab.core.errors import ConfigError, ToolFailed
from octo_lab.security.net.addresses import Address
from octo_lab.security.net.guard import Guard
from octo_lab.security.net.urls import parse_authority, shown_host

STAGGER = 0.25
_MAX_HEAD = 16_384


@dataclass(frozen=True, slots=True, kw_only=True)
class UpstreamProxy:
    """An HTTP proxy of the owner's, through which every connection is tunnelled."""

    host: str
    port: int
    credential: str = field(default="", repr=False)


def read_proxy(url: str) -> UpstreamProxy | None:
    """``http://user:password@host:port`` as a value; raises ConfigError."""
    if not url:
        return None
    try:
        parts = urlsplit(url if "://" in url else f"http://{url}")
        host, port = parse_authority(parts.netloc.rpartition("@")[2], 80)
    except (ToolFailed, ValueError):
        host, port = "", 0
    if not host or parts.scheme != "http":
        raise ConfigError(
            "network.proxy names no proxy that can be used", hint="it looks like http://host:port"
        )
    user, password = unquote(parts.username or ""), unquote(parts.password or "")
    credential = base64.b64encode(f"{user}:{password}".encode()).decode() if user else ""
    return UpstreamProxy(host=host, port=port, credential=credential)


@dataclass(frozen=True, slots=True, kw_only=True)
class Dialer:
    """Resolves, checks and connects in one step, so that no name is looked up twice."""

    guard: Guard = Guard()
    proxy: UpstreamProxy | None = None
    patience: float = 10.0

    async def dial(self, host: str, port: int) -> httpcore.AsyncNetworkStream:
        """Raises ToolDenied, and ToolFailed when nothing answers."""
        addresses = await self.guard.addresses(host, port)
        place = f"{shown_host(host)}:{port}"
        try:
            with anyio.fail_after(self.patience):
                if self.proxy:
                    return await _tunnel(self.proxy, addresses[0], port)
                return await _first(addresses, port, self.patience)
        except TimeoutError:
            raise ToolFailed(f"{place!r} did not answer within {self.patience:g} s") from None
        except (OSError, httpcore.NetworkError, httpcore.TimeoutException) as exc:
            raise ToolFailed(f"{place!r} could not be connected to") from exc


async def _first(
    addresses: Sequence[Address], port: int, patience: float
) -> httpcore.AsyncNetworkStream:
    """The first connection that stands; the next address is tried when one is slow or fails.

    After RFC 8305. Raises the last failure.
    """
    race = _Race(port=port, patience=patience)
    async with AsyncExitStack() as stack:
        stack.push_async_callback(race.give_up)
        async with anyio.create_task_group() as tasks:
            for address in _by_turns(addresses):
                failed = anyio.Event()
                tasks.start_soon(race.run, address, failed, tasks.cancel_scope)
                with anyio.move_on_after(STAGGER):
                    await failed.wait()
        if race.won is None:
            raise race.failures[-1]
        stack.pop_all()
    return race.won


def _by_turns(addresses: Sequence[Address]) -> list[Address]:
    """The families by turns, beginning with that of the first address."""
    first = [one for one in addresses if one.version == addresses[0].version]
    other = [one for one in addresses if one.version != addresses[0].version]
    longest = max(len(first), len(other))
    pairs = [(*first[place : place + 1], *other[place : place + 1]) for place in range(longest)]
    return [one for pair in pairs for one in pair]


@dataclass(slots=True, kw_only=True)
class _Race:
    port: int
    patience: float
    won: httpcore.AsyncNetworkStream | None = None
    failures: list[Exception] = field(default_factory=list)

    async def run(self, address: Address, failed: anyio.Event, scope: anyio.CancelScope) -> None:
        try:
            stream = await _connect(str(address), self.port, self.patience)
        except (httpcore.NetworkError, httpcore.TimeoutException) as exc:
            self.failures.append(exc)
            failed.set()
            return
        if self.won is None:
            self.won = stream
            scope.cancel()
        else:
            await _closed(stream)

    async def give_up(self) -> None:
        if self.won is not None:
            await _closed(self.won)


async def _connect(address: str, port: int, patience: float) -> httpcore.AsyncNetworkStream:
    return await httpcore.AnyIOBackend().connect_tcp(address, port, timeout=patience)


async def _tunnel(proxy: UpstreamProxy, address: Address, port: int) -> httpcore.AsyncNetworkStream:
    """A way through the owner's proxy, to the address that was checked and not to its name."""
    place = f"{shown_host(str(address))}:{port}"
    asked = [f"CONNECT {place} HTTP/1.1", f"Host: {place}"]
    if proxy.credential:
        asked.append(f"Proxy-Authorization: Basic {proxy.credential}")
    stream = await httpcore.AnyIOBackend().connect_tcp(proxy.host, proxy.port)
    async with AsyncExitStack() as stack:
        stack.push_async_callback(_closed, stream)
        await stream.write("\r\n".join([*asked, "", ""]).encode())
        await _accepted(stream)
        stack.pop_all()
    return stream


async def _accepted(stream: httpcore.AsyncNetworkStream) -> None:
    """Read the proxy's answer byte by byte: what follows its head is the server's."""
    head = b""
    while not head.endswith(b"\r\n\r\n"):
        byte = await stream.read(1)
        head += byte
        if not byte or len(head) > _MAX_HEAD:
            raise ToolFailed("The proxy of the setting network.proxy gave no proper answer")
    status = head.split(b" ", 2)[1:2]
    if status != [b"200"]:
        said = (status or [b"nothing"])[0][:20].decode("ascii", "replace")
        raise ToolFailed(f"The proxy of the setting network.proxy answered {said}")


async def _closed(stream: httpcore.AsyncNetworkStream) -> None:
    with anyio.CancelScope(shield=True):
        await stream.aclose()
