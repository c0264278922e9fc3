"""The meaning of short texts: the mean of their word vectors, which ship with WordLlama."""

from __future__ import annotations

import json
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Matrix = NDArray[np.float32]

_VECTORS = "weights/l2_supercat_256.safetensors"
_TOKENIZER = "tokenizers/l2_supercat_tokenizer_config.json"


class Embedding:
    """Reads WordLlama's files itself and in place: the vectors of a request are a few pages.

    Its package would import a downloader, set up logging and keep 32 MB of vectors in memory.
    """

    def __init__(self) -> None:
        # numpy and the tokenizer are loaded by the first offline turn only
        import numpy
        from tokenizers import Tokenizer

        folder = _folder()
        self._np = numpy
        self._tokenizer = Tokenizer.from_file(str(folder / _TOKENIZER))
        self._vectors = _mapped(folder / _VECTORS)

    def of(self, texts: Sequence[str]) -> Matrix:
        """One row for each text."""
        read = self._tokenizer.encode_batch(list(texts), add_special_tokens=False)
        rows: Matrix = self._np.stack([self._mean(one.ids) for one in read])
        return rows

    def _mean(self, ids: Sequence[int]) -> Matrix:
        if not ids:
            return self._np.zeros(self._vectors.shape[1], self._np.float32)
        mean: Matrix = self._vectors[ids].mean(axis=0, dtype=self._np.float32)
        return mean


def _folder() -> Path:
    found = find_spec("wordllama")
    return Path(str(found.origin)).parent if found else Path()


def _mapped(path: Path) -> NDArray[np.float16]:
    """The one matrix of a safetensors file: eight bytes of length, a JSON header, the numbers."""
    import numpy

    with path.open("rb") as file:
        length = int.from_bytes(file.read(8), "little")
        (entry,) = (
            one for name, one in json.loads(file.read(length)).items() if name != "__metadata__"
        )
    start = 8 + length + entry["data_offsets"][0]
    return numpy.memmap(path, numpy.float16, "r", start, tuple(entry["shape"]))
