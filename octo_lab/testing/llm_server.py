"""A real HTTP server over a loopback socket that speaks a model's dialects as scripted.

``python -m octo_lab.testing.llm_server --echo`` prints its base URL and serves until ended.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import json
import socket
import struct
import sys
import threading
import time
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType

import anyio
import anyio.to_thread

from octo_lab.testing.llm_bytes import http_pieces
from octo_lab.testing.llm_script import Call, Json, Turn, echo, fails
from octo_lab.testing.wires.registry import WIRES, wire_of

Answer = Turn | Callable[[Json], Turn]
MAX_HEAD = 65_536
PING_SECONDS = 0.05


@dataclass(frozen=True, slots=True, kw_only=True)
class Received:
    """One request as it came; ``peer`` is the client's port, ``at`` is ``time.perf_counter()``."""

    path: str
    headers: dict[str, str]
    body: Json
    peer: int
    at: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Disconnect:
    """The client went before the answer was whole; ``request`` is the index of the request."""

    request: int
    sent: int
    at: float


class LlmServer:
    """Serves in its own thread: ``with LlmServer(says("hi")) as server: server.base_url``, or
    ``async with`` inside a loop.

    ``answers`` are used in order, one a request; then ``then`` answers for ever. A request that
    the vendor would refuse gets the vendor's 400 and uses no answer. With ``api_key`` any other
    key gets 401; with ``models`` any other model gets 404. ``lists=False`` has no list of models;
    ``listed`` counts how often the list was asked for.
    """

    def __init__(
        self,
        *answers: Answer,
        then: Answer = echo,
        api_key: str | None = None,
        models: Sequence[str] = (),
        lists: bool = True,
        port: int = 0,
    ) -> None:
        self.requests: list[Received] = []
        self.disconnects: list[Disconnect] = []
        self.refused: list[str] = []
        self.api_key = api_key
        self.models = tuple(models)
        self.lists = lists
        self.listed = 0
        self._answers = deque(answers)
        self._then = then
        self._changed = threading.Condition()
        self._loop = asyncio.new_event_loop()
        self._socket = socket.create_server(("127.0.0.1", port), backlog=512)
        self._port = int(self._socket.getsockname()[1])
        self._listener: asyncio.Server | None = None
        self._serving = threading.Event()
        self._thread = threading.Thread(target=self._run, name="llm-server", daemon=True)
        self._connections: set[_Connection] = set()

    @property
    def base_url(self) -> str:
        return f"http://127.0.0.1:{self._port}/v1"

    def script(self, *answers: Answer) -> None:
        """Add answers for the next requests."""
        self._answers.extend(answers)

    def forget(self) -> None:
        """Drop the answers no request has used, so that the next test starts with its own."""
        self._answers.clear()

    def wait_until(self, happened: Callable[[], bool], timeout: float = 10.0) -> bool:
        """Block until something recorded makes it true; False when time is over."""
        with self._changed:
            return self._changed.wait_for(happened, timeout)

    @contextlib.contextmanager
    def away(self) -> Iterator[None]:
        """Meanwhile connections are refused, and open ones dropped. Blocks, as leaving does."""
        asyncio.run_coroutine_threadsafe(self._leave(), self._loop).result()
        try:
            yield
        finally:
            self._socket = socket.create_server(("127.0.0.1", self._port), backlog=512)
            asyncio.run_coroutine_threadsafe(self._listen(), self._loop).result()

    def __enter__(self) -> LlmServer:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, exc: BaseException | None, tb: TracebackType | None
    ) -> None:
        self._serving.wait()  # a loop stopped while it starts is never closed
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()

    async def __aenter__(self) -> LlmServer:
        return await anyio.to_thread.run_sync(self.__enter__)

    async def __aexit__(
        self, kind: type[BaseException] | None, exc: BaseException | None, tb: TracebackType | None
    ) -> None:
        with anyio.CancelScope(shield=True):
            await anyio.to_thread.run_sync(self.__exit__, kind, exc, tb)

    def serve(self) -> None:
        """Serve in this thread until interrupted."""
        self._run()

    def answer(self, received: Received) -> Turn:
        """What to say to a request; called by the connection."""
        with self._changed:
            self.requests.append(received)
            self._changed.notify_all()
        refusal = self._refusal(received)
        if refusal is not None:
            self.refused.append(refusal.message)
            return refusal
        answer = self._answers.popleft() if self._answers else self._then
        return answer(received.body) if callable(answer) else answer

    def left(self, disconnect: Disconnect) -> None:
        with self._changed:
            self.disconnects.append(disconnect)
            self._changed.notify_all()

    def key_refusal(self, headers: dict[str, str]) -> Turn | None:
        if self.api_key and self.api_key not in _keys(headers):
            return fails(401, "Incorrect API key provided.", code="invalid_api_key")
        return None

    def _refusal(self, received: Received) -> Turn | None:
        refusal = self.key_refusal(received.headers)
        if refusal is not None:
            return refusal
        wire = wire_of(received.path)
        if wire is None:
            return fails(404, f"Invalid URL (POST {received.path})")
        problem = wire.problem(received.path, received.headers, received.body)
        if problem is not None:
            raw = wire.error_body(400, problem.message, None, problem.param)
            return Turn(status=400, message=problem.message, raw=raw)
        model = wire.model(received.path, received.body)
        if self.models and model not in self.models:
            message = f"The model '{model}' does not exist or you do not have access to it."
            return fails(404, message, code="model_not_found")
        return None

    def _run(self) -> None:
        loop = self._loop
        asyncio.set_event_loop(loop)
        loop.run_until_complete(self._listen())
        loop.call_soon(self._serving.set)
        try:
            loop.run_forever()
        finally:
            loop.run_until_complete(self._leave())
            loop.close()

    async def _listen(self) -> None:
        self._listener = await self._loop.create_server(
            lambda: _Connection(self, self._connections), sock=self._socket
        )

    async def _leave(self) -> None:
        if self._listener is not None:
            self._listener.close()
        for connection in tuple(self._connections):
            connection.drop()
        await asyncio.sleep(0)


class _Connection(asyncio.Protocol):
    """One HTTP/1.1 connection: reads a request, writes its answer piece by piece."""

    def __init__(self, server: LlmServer, connections: set[_Connection]) -> None:
        self._server = server
        self._connections = connections
        self._buffer = bytearray()
        self._out: _Outgoing | None = None
        self._timer: asyncio.Handle | None = None
        self._transport: asyncio.Transport | None = None
        self._peer = 0

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport
        self._peer = int(transport.get_extra_info("peername")[1])
        self._connections.add(self)

    def connection_lost(self, exc: Exception | None) -> None:
        self._connections.discard(self)
        if self._timer is not None:
            self._timer.cancel()
        out, self._out = self._out, None
        if out is not None:
            self._server.left(
                Disconnect(request=out.request, sent=out.sent, at=time.perf_counter())
            )

    def data_received(self, data: bytes) -> None:
        self._buffer += data
        if self._out is None:
            self._next_request()

    def drop(self) -> None:
        """Cut the connection: what is unsent is lost."""
        self._out = None
        if self._transport is not None:
            self._transport.abort()

    def _next_request(self) -> None:
        head, separator, rest = bytes(self._buffer).partition(b"\r\n\r\n")
        if not separator:
            if len(head) > MAX_HEAD or not head[:1].isalpha():  # endless, or no HTTP: TLS
                self.drop()
            return
        start, *lines = head.decode("latin-1").split("\r\n")
        headers = {n.strip().lower(): v.strip() for n, _, v in (x.partition(":") for x in lines)}
        length = int(headers.get("content-length", 0))
        if len(rest) < length:
            return
        del self._buffer[: len(head) + 4 + length]
        self._serve(start.split(" "), headers, rest[:length])

    def _serve(self, start: list[str], headers: dict[str, str], body: bytes) -> None:
        if start[0] == "GET":
            self._send(self._model_list(headers), start[1], {})
            return
        received = Received(
            path=start[1],
            headers=headers,
            body=_body(body),
            peer=self._peer,
            at=time.perf_counter(),
        )
        self._send(self._server.answer(received), received.path, received.body)

    def _model_list(self, headers: dict[str, str]) -> Turn:
        server = self._server
        server.listed += 1
        refusal = server.key_refusal(headers)
        if refusal is not None:
            return refusal
        if not server.lists:
            return fails(404, "Not Found")
        raw = json.dumps(_listing(headers, server.models or ("scripted",))).encode()
        return Turn(raw=raw, headers=_JSON, delay=None)

    def _send(self, turn: Turn, path: str, request: Json) -> None:
        heads, chunks = http_pieces(turn, _pieces(turn, path, request))
        out = _Outgoing(turn=turn, request=len(self._server.requests) - 1, heads=len(heads) - 1)
        out.pieces.extend([*heads, *chunks])
        self._out = out
        self._later(turn.wait)

    def _later(self, seconds: float) -> None:
        loop = asyncio.get_running_loop()
        self._timer = (
            loop.call_later(seconds, self._write) if seconds else loop.call_soon(self._write)
        )

    def _write(self) -> None:
        out, transport = self._out, self._transport
        if out is None or transport is None or transport.is_closing():
            return
        if out.pieces:
            piece = out.pieces.popleft()
            transport.write(piece)
            out.sent += len(piece)
            self._later(out.pause())
        elif pings := out.turn.fault.pings:
            out.pieces.append(b"%x\r\n%b\r\n" % (len(pings), pings))
            self._later(PING_SECONDS)
        elif not (out.turn.hang or out.turn.fault.endless):
            self._out = None
            self._end(out.turn, transport)

    def _end(self, turn: Turn, transport: asyncio.Transport) -> None:
        if turn.fault.reset is not None:
            linger = struct.pack("ii", 1, 0)
            transport.get_extra_info("socket").setsockopt(
                socket.SOL_SOCKET, socket.SO_LINGER, linger
            )
            transport.abort()
        elif turn.cut is not None or turn.fault.closes:
            transport.close()
        elif self._buffer:
            self._next_request()


@dataclass(slots=True, kw_only=True)
class _Outgoing:
    turn: Turn
    request: int
    heads: int  # pieces of the head that are still to be written
    pieces: deque[bytes] = field(default_factory=deque)
    sent: int = 0

    def pause(self) -> float:
        """Seconds until the next piece."""
        self.heads -= 1
        return self.turn.fault.head_delay if self.heads >= 0 else self.turn.delay or 0


_JSON = {"content-type": "application/json"}


def _keys(headers: dict[str, str]) -> list[str]:
    return [wire.key(headers) for wire in WIRES]


def _listing(headers: dict[str, str], models: Sequence[str]) -> Json:
    own = next((wire.listing for wire in WIRES if wire.listing and wire.key(headers)), None)
    data = [{"id": name, "object": "model"} for name in models]
    return own(models) if own else {"object": "list", "data": data}


def _pieces(turn: Turn, path: str, request: Json) -> list[bytes]:
    wire = wire_of(path) or WIRES[0]
    if turn.raw is not None:
        return [turn.raw]
    if turn.status != 200:
        return [wire.error_body(turn.status, turn.message, turn.code, None)]
    return wire.pieces(turn, request)


def _body(data: bytes) -> Json:
    try:
        body = json.loads(data)
    except ValueError:
        body = None
    return body if isinstance(body, dict) else {"invalid_json": data.decode(errors="replace")}


def _read_script(path: Path) -> list[Turn]:
    """Turns from a JSON array of objects with the fields of Turn."""
    return [
        Turn(**{**item, "calls": [Call(**call) for call in item.get("calls", ())]})
        for item in json.loads(path.read_text(encoding="utf-8"))
    ]


def main(arguments: Sequence[str] | None = None) -> None:
    """Serve from the command line."""
    parser = argparse.ArgumentParser(prog="llm_server", description=__doc__)
    parser.add_argument("--port", type=int, default=0)
    parser.add_argument("--echo", action="store_true", help="echo after the script (default)")
    parser.add_argument("--script", type=Path, help="a JSON array of turns")
    parser.add_argument("--api-key")
    chosen = parser.parse_args(arguments)
    turns = _read_script(chosen.script) if chosen.script else []
    server = LlmServer(*turns, api_key=chosen.api_key, port=chosen.port)
    sys.stdout.write(f"{server.base_url}\n")
    sys.stdout.flush()
    with contextlib.suppress(KeyboardInterrupt):
        server.serve()


if __name__ == "__main__":
    main()
