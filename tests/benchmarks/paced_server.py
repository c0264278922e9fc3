"""A model server of every dialect that writes as models do: one event, one TCP packet, a pause.

Run as ``python -m tests.benchmarks.paced_server``: prints its address, then serves until its
standard input closes. The model name says how: ``chunks-200-paced``, ``chunks-50-slow`` with the
pauses of a real model, or ``chunks-200-whole``, which writes 64 KB at a time.
"""

from __future__ import annotations

import json
import socket
import socketserver
import sys
import threading
import time
from collections.abc import Iterator
from functools import cache

from octo_lab.testing.llm_script import says
from octo_lab.testing.wires.registry import wire_of
from tests.benchmarks.server import WORDS

PAUSES = {"paced": 0.0001, "slow": 0.05}  # long enough that a client reads each event by itself
HEAD = b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n"
MANY = 65_536


@cache
def answer(path: str, chunks: int) -> tuple[bytes, ...]:
    """The HTTP chunks, one for each event."""
    wire = wire_of(path)
    assert wire is not None, path
    turn = says(*(WORDS[(n + n // 5) % 5] for n in range(chunks)))  # as ``server`` says it
    asked = {"model": "bench", "stream_options": {"include_usage": True}}
    pieces = wire.pieces(turn, asked)
    return tuple(b"%x\r\n%b\r\n" % (len(piece), piece) for piece in pieces)


class Connection(socketserver.BaseRequestHandler):
    def handle(self) -> None:
        self.request.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        for path, body in self._requests():
            named = body.get("model") or path.rpartition("/")[2].partition(":")[0]
            _, chunks, way = named.split("-")
            events = answer(path, int(chunks))
            if way in PAUSES:
                self._pace(events, PAUSES[way])
            else:
                self._flood(HEAD + b"".join(events) + b"0\r\n\r\n")

    def _pace(self, events: tuple[bytes, ...], pause: float) -> None:
        for piece in (HEAD, *events, b"0\r\n\r\n"):
            self.request.sendall(piece)
            time.sleep(pause)

    def _flood(self, body: bytes) -> None:
        for at in range(0, len(body), MANY):
            self.request.sendall(body[at : at + MANY])

    def _requests(self) -> Iterator[tuple[str, dict[str, str]]]:
        buffer = b""
        while data := self.request.recv(65_536):
            buffer += data
            head, found, body = buffer.partition(b"\r\n\r\n")
            if not found:
                continue
            length = int(head.lower().split(b"content-length:")[1].split(b"\r\n")[0])
            if len(body) >= length:
                buffer = body[length:]
                yield head.split(b" ")[1].decode(), json.loads(body[:length])


class Server(socketserver.ThreadingTCPServer):
    daemon_threads = True
    request_queue_size = 512


def main() -> None:
    with Server(("127.0.0.1", 0), Connection) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        print(f"http://127.0.0.1:{server.server_address[1]}", flush=True)
        sys.stdin.read()
        server.shutdown()


if __name__ == "__main__":
    main()
