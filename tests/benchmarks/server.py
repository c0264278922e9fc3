"""A model server that costs next to nothing: precomputed bytes, the whole answer in one write.

Run as ``python server.py``: prints its base URL, then serves until its standard input closes.
The model name says the length: ``chunks-200``.
"""

from __future__ import annotations

import asyncio
import json
import sys
from functools import cache

WORDS = ("alpha ", "beta  ", "gamma ", "delta ", "omega ")


@cache
def answer(chunks: int) -> bytes:
    events = [_chunk({"role": "assistant", "content": ""})]
    # Each five in another order: what only repeats itself would be ended as a runaway.
    events += [_chunk({"content": WORDS[(n + n // 5) % 5]}) for n in range(chunks)]
    events += [_chunk({}, finish="stop"), _usage(chunks), b"data: [DONE]\n\n"]
    body = b"".join(b"%x\r\n%b\r\n" % (len(event), event) for event in events) + b"0\r\n\r\n"
    head = (
        b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n"
    )
    return head + body


def _chunk(delta: dict[str, str], finish: str | None = None) -> bytes:
    return _event({"choices": [{"index": 0, "delta": delta, "finish_reason": finish}]})


def _usage(chunks: int) -> bytes:
    usage = {"prompt_tokens": 20, "completion_tokens": chunks, "total_tokens": chunks + 20}
    return _event({"choices": [], "usage": usage})


def _event(data: dict[str, object]) -> bytes:
    head = {
        "id": "chatcmpl-A1b2C3d4E5f6G7h8I9j0K1l2M3n4",
        "object": "chat.completion.chunk",
        "created": 1790000000,
        "model": "bench-model-2026-01-01",
        "service_tier": "default",
        "system_fingerprint": "fp_0123456789",
    }
    return b"data: " + json.dumps({**head, **data}, separators=(",", ":")).encode() + b"\n\n"


class Server(asyncio.Protocol):
    def __init__(self) -> None:
        self.buffer = b""
        self.transport: asyncio.Transport

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self.transport = transport

    def data_received(self, data: bytes) -> None:
        self.buffer += data
        head, found, body = self.buffer.partition(b"\r\n\r\n")
        if not found:
            return
        lower = head.lower()
        length = int(lower.split(b"content-length:")[1].split(b"\r\n")[0])
        if len(body) < length:
            return
        self.buffer = body[length:]
        model = json.loads(body[:length])["model"]
        self.transport.write(answer(int(model.rpartition("-")[2])))


async def main() -> None:
    loop = asyncio.get_running_loop()
    server = await loop.create_server(Server, "127.0.0.1", 0)
    port = server.sockets[0].getsockname()[1]
    print(f"http://127.0.0.1:{port}/v1", flush=True)
    await loop.run_in_executor(None, sys.stdin.read)


if __name__ == "__main__":
    asyncio.run(main())
