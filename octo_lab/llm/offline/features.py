"""Turns texts into vectors: word embeddings beside hashed character n-grams."""

from __future__ import annotations

import re
import unicodedata
import zlib
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING

from octo_lab.llm.offline.embedding import Embedding

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Matrix = NDArray[np.float32]

_BUCKETS = 2048
_MEANING = 0.45
_WORD = re.compile(r"[^\W\u2e80-\u9fff\uac00-\ud7af]+|[\u2e80-\u9fff\uac00-\ud7af]+|[+*`\"]")


class Features:
    """Vectors of length one, or zero for a text without a word.

    The first part is the meaning (English in effect), the second the spelling, which carries
    the other languages and the typing errors. ``rarity`` says how much each n-gram tells.
    """

    def __init__(self, embedding: Embedding, rarity: Matrix) -> None:
        import numpy as np  # loaded by the first offline turn only

        self._np = np
        self._embedding = embedding
        self._rarity = rarity

    def of(self, texts: Sequence[str]) -> Matrix:
        """One row for each text."""
        np = self._np
        spelling = self._unit(np.log1p(gram_counts(texts)) * self._rarity)
        meaning = self._unit(self._embedding.of(texts))
        parts = (meaning * _MEANING**0.5, spelling * (1 - _MEANING) ** 0.5)
        rows: Matrix = np.concatenate(parts, axis=1).astype(np.float32)
        return rows

    def _unit(self, rows: Matrix) -> Matrix:
        np = self._np
        length = np.linalg.norm(rows, axis=1, keepdims=True)
        unit: Matrix = np.divide(rows, length, out=np.zeros_like(rows), where=length > 0)
        return unit


def gram_counts(texts: Sequence[str]) -> Matrix:
    """How often each n-gram is in each text, n-grams in buckets."""
    import numpy as np  # loaded by the first offline turn only

    counts: Matrix = np.zeros((len(texts), _BUCKETS), dtype=np.float32)
    for row, text in enumerate(texts):
        for gram, count in Counter(_grams(text)).items():
            counts[row, zlib.crc32(gram.encode()) % _BUCKETS] += count
    return counts


def plain(text: str) -> str:
    """Lower case, without accents and apostrophes, so that spelling habits do not matter."""
    text = unicodedata.normalize("NFKD", text.casefold())
    return "".join(c for c in text if not unicodedata.combining(c) and c not in "'’´")


def _grams(text: str) -> Iterator[str]:
    words = _WORD.findall(text)
    for word in words:
        yield f"w{word}"
        yield from _pieces(word if not word.isascii() and len(word) > 1 else f" {word} ")
    for left, right in pairwise(words):
        yield f"b{left} {right}"
    if words:
        yield f"s{words[0]}"


def _pieces(word: str) -> Iterator[str]:
    sizes = (3, 4) if word.startswith(" ") else (1, 2, 3)
    for size in sizes:
        for start in range(len(word) - size + 1):
            yield word[start : start + size]
