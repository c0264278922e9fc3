"""A scripted answer as the bytes of HTTP, piece by piece."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from octo_lab.testing.llm_script import Turn

_HEAD_PIECE = 16
_REASONS = {200: "OK", 400: "Bad Request", 401: "Unauthorized", 404: "Not Found"}


def http_pieces(turn: Turn, body: list[bytes]) -> tuple[list[bytes], list[bytes]]:
    """What is written before the body, and the body as HTTP chunks."""
    body = turn.fault.on_events(body)
    cut = turn.cut if turn.fault.reset is None else turn.fault.reset
    if cut is not None:
        body = _cut(body, cut)
    if turn.split is not None:
        whole, size = b"".join(body), turn.split
        body = [whole[at : at + size] for at in range(0, len(whole), size)]
    chunks = [b"%x\r\n%b\r\n" % (len(piece), piece) for piece in body if piece]
    if turn.fault.unframed:
        chunks[1:] = [b"zz\r\nthis is no chunk\r\n"]
    heads = list(_heads(turn))
    if cut is None and not turn.hang and not turn.fault.endless:
        (chunks or heads)[-1] += b"0\r\n%b\r\n" % _lines(turn.fault.trailers)
    if turn.delay is None:
        return [b"".join([*heads, *chunks])], []
    return heads, chunks


def _cut(body: list[bytes], size: int) -> list[bytes]:
    kept: list[bytes] = []
    for piece in body:
        kept.append(piece[:size])
        size -= len(kept[-1])
    return kept


def _heads(turn: Turn) -> Iterator[bytes]:
    head = b"".join(b"HTTP/1.1 %d Interim\r\n\r\n" % status for status in turn.fault.interim)
    head += _head(turn)
    if not turn.fault.head_delay:
        yield head
        return
    for at in range(0, len(head), _HEAD_PIECE):
        yield head[at : at + _HEAD_PIECE]


def _head(turn: Turn) -> bytes:
    kind = "text/event-stream" if turn.status == 200 else "application/json"
    headers = {"content-type": kind, "transfer-encoding": "chunked", **turn.headers}
    if turn.fault.packed:
        headers["content-encoding"] = turn.fault.packed
    reason = _REASONS.get(turn.status, "Status")
    return f"HTTP/1.1 {turn.status} {reason}\r\n".encode() + _lines(headers) + b"\r\n"


def _lines(headers: Mapping[str, str]) -> bytes:
    return "".join(f"{name}: {value}\r\n" for name, value in headers.items()).encode()
