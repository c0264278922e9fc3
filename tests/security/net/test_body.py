from __future__ import annotations

import gzip
import tracemalloc
import zlib
from collections.abc import AsyncIterator, Iterable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from octo_lab.core.errors import ToolFailed
from octo_lab.security.net.body import read_body

pytestmark = pytest.mark.anyio


async def parts(data: Iterable[bytes]) -> AsyncIterator[bytes]:
    for part in data:
        yield part


async def test_a_bomb_takes_no_more_memory_than_is_kept_of_it() -> None:
    bomb = gzip.compress(bytes(100_000_000), 9)
    tracemalloc.start()
    try:
        body, cut = await read_body(parts([bomb]), "gzip", 1_000_000)
        _, most = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()

    assert (len(body), cut) == (1_000_000, True)
    assert most < 4_000_000


PACK = {
    "gzip": gzip.compress,
    "deflate": zlib.compress,
    "": lambda data: data,
}


@given(st.binary(max_size=300), st.integers(1, 40), st.sampled_from(sorted(PACK)))
async def test_however_it_is_cut_a_body_is_the_same(data: bytes, size: int, encoding: str) -> None:
    packed = PACK[encoding](data)
    pieces = [packed[place : place + size] for place in range(0, len(packed), size)]

    assert await read_body(parts(pieces), encoding, 1000) == (data, False)


async def test_what_comes_out_of_one_byte_is_not_lost() -> None:
    data = b"x" * 300_000
    packed = gzip.compress(data)

    assert await read_body(parts([packed[:-1], packed[-1:]]), "gzip", 10**6) == (data, False)


@pytest.mark.parametrize("limit", [0, 1, 4, 5])
async def test_the_limit_is_exact(limit: int) -> None:
    assert await read_body(parts([b"ab", b"cde"]), "", limit) == (b"abcde"[:limit], limit < 5)


@given(st.binary(max_size=60))
async def test_broken_packing_is_read_or_refused(data: bytes) -> None:
    try:
        body, _ = await read_body(parts([data]), "gzip", 1000)
    except ToolFailed:
        return
    assert len(body) <= 1000
