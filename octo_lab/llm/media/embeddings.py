"""Turns texts into vectors of their meaning: on this machine, or by a server."""

from __future__ import annotations

import base64
import binascii
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Protocol

import anyio
import anyio.to_thread

from octo_lab.llm.media.asking import MediaServer
from octo_lab.llm.offline.embedding import Embedding

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Matrix = NDArray[np.float32]

WORDS = "wordllama/l2_supercat_256"
WORDS_DIMENSION = 256
PATH = "/embeddings"
MOST_TEXTS = 128  # of one request; vendors take 2048
MOST_CHARACTERS = 200_000  # of one request; OpenAI takes 300,000 tokens
DIMENSIONS: Mapping[str, int] = {
    "text-embedding-3-small": 1536,
    "text-embedding-3-large": 3072,
    "text-embedding-ada-002": 1536,
}


class Embedder(Protocol):
    """Makes vectors that can be compared with those of the same ``name``, and no others."""

    @property
    def name(self) -> str: ...

    @property
    def dimension(self) -> int:
        """Numbers in a vector; 0 while only the server knows it."""
        ...

    async def embed(self, texts: Sequence[str]) -> Matrix:
        """One row for each text, in their order, of length 1; of a text without meaning only
        zeros. Raises a ProviderError.
        """
        ...


class WordEmbedder:
    """The mean of word vectors that come with octo_lab; English in effect, and needs no network."""

    name = WORDS
    dimension = WORDS_DIMENSION

    def __init__(self) -> None:
        self._loading = anyio.Lock()
        self._vectors: Embedding | None = None

    async def embed(self, texts: Sequence[str]) -> Matrix:
        async with self._loading:
            if self._vectors is None:
                self._vectors = await anyio.to_thread.run_sync(Embedding)
        return await anyio.to_thread.run_sync(_means, self._vectors, tuple(texts))


class ServerEmbedder:
    """Asks an OpenAI-compatible ``/embeddings`` (platform.openai.com/docs/api-reference)."""

    def __init__(self, server: MediaServer, *, dimension: int = 0) -> None:
        """``dimension`` asks for shorter vectors than the model's own, where it can make them."""
        self.server = server
        self.dimension = dimension or DIMENSIONS.get(server.model, 0)
        self._asked = dimension

    @property
    def name(self) -> str:
        return f"{self.server.name}/{self.server.model}"

    async def embed(self, texts: Sequence[str]) -> Matrix:
        filled = [at for at, text in enumerate(texts) if text.strip()]
        rows: list[Matrix] = []
        for batch in _batches([texts[at] for at in filled]):
            rows += await self._batch(batch)
        return await anyio.to_thread.run_sync(_placed, rows, filled, len(texts), self.dimension)

    async def _batch(self, texts: Sequence[str]) -> list[Matrix]:
        asked: dict[str, Any] = {
            "model": self.server.model,
            "input": list(texts),
            "encoding_format": "base64",
        }
        if self._asked:
            asked["dimensions"] = self._asked
        answer = await self.server.ask_json(PATH, asked)
        rows = await anyio.to_thread.run_sync(_rows, answer, len(texts))
        if rows is None or len({len(row) for row in rows} | {self.dimension or len(rows[0])}) > 1:
            raise self.server.odd()
        self.dimension = len(rows[0])
        return rows


def _means(vectors: Embedding, texts: Sequence[str]) -> Matrix:
    import numpy  # as the vectors themselves: on first use

    if not texts:
        return numpy.zeros((0, WORDS_DIMENSION), numpy.float32)
    return _normal(vectors.of(texts))


def _normal(rows: Matrix) -> Matrix:
    import numpy

    lengths: Matrix = numpy.sqrt((rows * rows).sum(axis=1, keepdims=True))
    lengths[lengths == 0] = 1
    normal: Matrix = rows / lengths
    return normal


def _placed(rows: Sequence[Matrix], places: Sequence[int], count: int, dimension: int) -> Matrix:
    import numpy

    placed: Matrix = numpy.zeros((count, dimension), numpy.float32)
    if rows:
        placed[list(places)] = numpy.stack(rows)
    return _normal(placed)


def _batches(texts: Sequence[str]) -> Iterator[Sequence[str]]:
    """Each as long as one request may be; a text that is too long alone is one of its own."""
    batch: list[str] = []
    size = 0
    for text in texts:
        if batch and (len(batch) >= MOST_TEXTS or size + len(text) > MOST_CHARACTERS):
            yield batch
            batch, size = [], 0
        batch.append(text)
        size += len(text)
    if batch:
        yield batch


def _rows(answer: Mapping[str, Any], count: int) -> list[Matrix] | None:
    """The vectors in the order of their texts; None where one is missing or odd."""
    data = answer.get("data")
    if not isinstance(data, list) or len(data) != count:
        return None
    found: dict[int, Matrix] = {}
    for place, item in enumerate(data):
        if not isinstance(item, dict):
            return None
        index, row = item.get("index", place), _row(item.get("embedding"))
        if row is None or type(index) is not int:
            return None
        found[index] = row
    return [found[at] for at in range(count)] if set(found) == set(range(count)) else None


def _row(value: object) -> Matrix | None:
    """One vector: a list of numbers, or as base64 of little-endian 32-bit ones."""
    import numpy

    try:
        if isinstance(value, str):
            data = base64.b64decode(value, validate=True)
            row: Matrix = numpy.frombuffer(data, "<f4").astype(numpy.float32)
        else:
            row = numpy.asarray(value, numpy.float32)
    except (ValueError, TypeError, binascii.Error, OverflowError):
        return None
    good = row.ndim == 1 and row.size > 0 and bool(numpy.isfinite(row).all())
    return row if good else None
