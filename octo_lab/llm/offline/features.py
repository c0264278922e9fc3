"""Turns texts into vectors: WordLlama embeddings beside hashed character n-grams."""

from __future__ import annotations

import re
import unicodedata
import zlib
from collections import Counter
from collections.abc import Iterator, Sequence
from importlib.util import find_spec
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any

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
    the other languages and the typing errors. Made from examples: they say which n-grams are
    common. ``known`` are the vectors of the examples.
    """

    def __init__(self, examples: Sequence[str]) -> None:
        # numpy and WordLlama cost a second and 100 MB: paid by the first offline turn only
        import numpy as np

        self._np = np
        self._llama = _load_llama()
        counts = self._counts(examples)
        seen = (counts > 0).sum(axis=0)
        self._rarity = np.log((1 + len(examples)) / (1 + seen)).astype(np.float32)
        self.known = self._joined(examples, counts)

    def of(self, texts: Sequence[str]) -> Matrix:
        return self._joined(texts, self._counts(texts))

    def _joined(self, texts: Sequence[str], counts: Matrix) -> Matrix:
        np = self._np
        spelling = self._unit(np.log1p(counts) * self._rarity)
        meaning = self._unit(np.asarray(self._llama.embed([text or " " for text in texts])))
        parts = (meaning * _MEANING**0.5, spelling * (1 - _MEANING) ** 0.5)
        rows: Matrix = np.concatenate(parts, axis=1).astype(np.float32)
        return rows

    def _counts(self, texts: Sequence[str]) -> Matrix:
        counts: Matrix = self._np.zeros((len(texts), _BUCKETS), dtype=self._np.float32)
        for row, text in enumerate(texts):
            for gram, count in Counter(_grams(text)).items():
                counts[row, zlib.crc32(gram.encode()) % _BUCKETS] += count
        return counts

    def _unit(self, rows: Matrix) -> Matrix:
        np = self._np
        length = np.linalg.norm(rows, axis=1, keepdims=True)
        unit: Matrix = np.divide(rows, length, out=np.zeros_like(rows), where=length > 0)
        return unit


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


def _load_llama() -> Any:
    from wordllama import WordLlama  # type: ignore[import-untyped]

    spec = find_spec("wordllama")
    folder = Path(str(spec.origin)).parent if spec else Path()
    return WordLlama.load(cache_dir=folder, disable_download=True)
