"""The classifier as fitted to the example requests, kept in a file of the package."""

from __future__ import annotations

import zipfile
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Matrix = NDArray[np.float32]

OUT_OF_SCOPE = "out_of_scope"
FITTED = Path(__file__).with_name("fitted.npz")


@dataclass(frozen=True, slots=True, kw_only=True)
class Fitted:
    """Weights of the features (rows) for each intent, then for each language (columns)."""

    intents: tuple[str, ...]
    languages: tuple[str, ...]
    rarity: Matrix
    weights: Matrix

    def save(self, path: Path, digest: str) -> None:
        """Write it as fitted to the language files of this digest."""
        import numpy

        numpy.savez_compressed(
            path,
            digest=numpy.array(digest),
            intents=numpy.array(self.intents),
            languages=numpy.array(self.languages),
            rarity=self.rarity.astype(numpy.float16),
            weights=self.weights.astype(numpy.float16),
        )


def load_fitted(path: Path, digest: str) -> Fitted | None:
    """What ``path`` holds, or None when that was fitted to other language files."""
    import numpy

    try:
        with path.open("rb") as file, numpy.load(file, allow_pickle=False) as kept:
            if str(kept["digest"]) != digest:
                return None
            return Fitted(
                intents=tuple(kept["intents"].tolist()),
                languages=tuple(kept["languages"].tolist()),
                rarity=kept["rarity"].astype(numpy.float32),
                weights=kept["weights"].astype(numpy.float32),
            )
    except (OSError, EOFError, KeyError, ValueError, zipfile.BadZipFile):
        return None
