"""What can go wrong between a model server and its client."""

from __future__ import annotations

import json
import zlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

_NUMBERS = ("index", "output_index")
Edit = Callable[[list[bytes]], list[bytes]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Fault:
    """One or more faults of an answer.

    ``reset``: the connection is reset after so many bytes of the body; ``stall``: after so many
    events nothing more comes, for ever, or only ``pings``; ``packed``: the body is compressed,
    asked for or not; ``trailers`` follow the last chunk; ``interim``: 1xx answers before the true
    one; ``head_delay``: seconds between two pieces of the head; ``closes``: the connection ends
    with the answer, though nothing said so; ``unframed``: what follows the first event is no HTTP;
    ``edit`` changes the events of the body.
    """

    reset: int | None = None
    stall: int | None = None
    pings: bytes = b""
    packed: Literal["gzip", "deflate"] | None = None
    trailers: Mapping[str, str] = field(default_factory=dict)
    interim: Sequence[int] = ()
    head_delay: float = 0.0
    closes: bool = False
    unframed: bool = False
    edit: Edit | None = None

    def on_events(self, pieces: list[bytes]) -> list[bytes]:
        """The body's pieces with what is wrong with them."""
        pieces = self.edit(pieces) if self.edit else pieces
        if self.packed:
            pieces = list(_packed(pieces, self.packed))
        return pieces if self.stall is None else pieces[: self.stall]

    @property
    def endless(self) -> bool:
        return self.stall is not None


def doubled(pieces: list[bytes]) -> list[bytes]:
    """Each event comes twice."""
    return [piece for one in pieces for piece in (one, one)]


def chatty(pieces: list[bytes]) -> list[bytes]:
    """Between the events is what every client must skip."""
    noise = b": ping\n\nretry: 10\n\n\n\nid: 7\n\nunknown: x\n\nevent: ping\n\n"
    return [part for piece in pieces for part in (noise, piece)]


def garbled(data: bytes) -> Edit:
    """After the first event comes one that nobody understands."""
    return lambda pieces: [*pieces[:1], b"data: " + data + b"\n\n", *pieces[1:]]


def misnumbered(index: object) -> Edit:
    """Every index of an item or a call, but not of a whole answer, is this one."""

    def edit(pieces: list[bytes]) -> list[bytes]:
        return [_with_index(piece, index) for piece in pieces]

    return edit


def _with_index(piece: bytes, index: object) -> bytes:
    head, found, data = piece.partition(b"data: ")
    try:
        event = json.loads(data)
    except ValueError:
        return piece
    return head + found + json.dumps(_renumbered(event, index)).encode() + b"\n\n"


def _renumbered(value: Any, index: object) -> Any:
    if isinstance(value, dict):
        numbers = () if "finish_reason" in value or "finishReason" in value else _NUMBERS
        return {
            name: index if name in numbers else _renumbered(held, index)
            for name, held in value.items()
        }
    return [_renumbered(item, index) for item in value] if isinstance(value, list) else value


def _packed(pieces: list[bytes], way: Literal["gzip", "deflate"]) -> Iterator[bytes]:
    packer = zlib.compressobj(wbits=31 if way == "gzip" else 15)
    for piece in pieces:
        yield packer.compress(piece) + packer.flush(zlib.Z_SYNC_FLUSH)
    yield packer.flush()
