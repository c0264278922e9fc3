"""Reads the body of an answer up to a bound, unpacked in pieces so that no bomb goes off."""

from __future__ import annotations

import zlib
from collections.abc import AsyncIterable, Callable, Iterable, Iterator

from octo_lab.core.errors import ToolFailed

ENCODINGS = "gzip, deflate"
_PIECE = 65_536
_Unpack = Callable[[bytes], Iterable[bytes]]


async def read_body(parts: AsyncIterable[bytes], encoding: str, limit: int) -> tuple[bytes, bool]:
    """At most ``limit`` bytes as they were before ``content-encoding``, and whether more came.

    Raises ToolFailed for an encoding that was not asked for, and for broken packing.
    """
    unpack = _unpacker(encoding)
    body = bytearray()
    async for part in parts:
        for piece in unpack(part):
            body += piece
            if len(body) > limit:
                return bytes(body[:limit]), True
    return bytes(body), False


def _unpacker(encoding: str) -> _Unpack:
    names = [name.strip().lower() for name in encoding.split(",") if name.strip()]
    match [name for name in names if name != "identity"]:
        case []:
            return _as_it_is
        case ["gzip" | "x-gzip" | "deflate"]:
            return _Packed().unpack
        case other:
            raise ToolFailed(f"The answer is packed as {', '.join(other)[:40]!r}, unasked")


def _as_it_is(data: bytes) -> Iterable[bytes]:
    return (data,)


class _Packed:
    """gzip or zlib, and deflate without a head, which some servers send under that name."""

    def __init__(self) -> None:
        self._zlib = zlib.decompressobj(zlib.MAX_WBITS | 32)
        self._begun = False

    def unpack(self, data: bytes) -> Iterator[bytes]:
        """What comes out, at most 64 KB at a time."""
        piece = b"\0" * _PIECE
        while (data or len(piece) == _PIECE) and not self._zlib.eof:
            piece = self._decompress(data)
            data = self._zlib.unconsumed_tail
            yield piece

    def _decompress(self, data: bytes) -> bytes:
        try:
            piece = self._zlib.decompress(data, _PIECE)
        except zlib.error:
            if self._begun:
                raise ToolFailed("The answer is packed in a broken way") from None
            self._begun, self._zlib = True, zlib.decompressobj(-zlib.MAX_WBITS)
            return self._decompress(data)
        self._begun = True
        return piece
