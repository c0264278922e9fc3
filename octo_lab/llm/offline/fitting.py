"""Fits the classifier to the example requests: ``python -m octo_lab.llm.offline.fitting``.

The result ships as ``fitted.npz``, because fitting takes seconds and memory, using it neither.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from octo_lab.llm.offline.arithmetic import Arithmetic
from octo_lab.llm.offline.embedding import Embedding
from octo_lab.llm.offline.features import Features, gram_counts
from octo_lab.llm.offline.fitted import FITTED, OUT_OF_SCOPE, Fitted
from octo_lab.llm.offline.languages import Language, digest, load_languages
from octo_lab.llm.offline.marks import Marker
from octo_lab.llm.offline.normal import Normal

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Matrix = NDArray[np.float32]

_SMOOTH = 0.35
_SMOOTH_ACTS = 1.5  # made up by the hundred, they must not outweigh what people were seen to type
_WAYS = 3
# What a slot may hold in an example; several values, so that no single word is learnt.
_VALUES: Mapping[str, tuple[str, ...]] = {
    "path": ("report.csv", "lib/tool.py", "todo.md", "lib/deep/page.html"),
    "dir": ("lib/", "pictures", "lib/deep", "assets"),
    "pattern": ('"needle"', "handler", "cat", '"two words"', "get_user"),
    "name": ("`item`", "counter", "@item", "my_list", "prices"),
    "frame": ("df", "orders", "`frame`", "sales", "df2"),
    "column": ("amount", '"weight"', "price", "age", "score", "revenue"),
    "group": ("kind", "country", "city", "year"),
    "n": ("10", "25", "3"),
    "m": ("20", "40", "30"),
    "math": ("12 + 30", "6 * 7", "81 / 9"),
    "code": ("`len(items)`", "max(items)", "`y = 3`"),
    "glob": ("*.py", "*.md"),
    "place": ("London", "Sydney", "Rome"),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class _Example:
    text: str
    intent: str
    code: str
    smooth: float


def fit(languages: Mapping[str, Language], normal: Normal, embedding: Embedding) -> Fitted:
    """A linear classifier over the features, in closed form (ridge regression)."""
    import numpy

    rows = list(_examples(languages, normal))
    texts = [row.text for row in rows]
    seen = (gram_counts(texts) > 0).sum(axis=0)
    rarity = numpy.log((1 + len(rows)) / (1 + seen)).astype(numpy.float32)
    intents = sorted({row.intent for row in rows})
    weights = _weights(rows, [*intents, *languages], Features(embedding, rarity).of(texts))
    return Fitted(
        intents=tuple(intents), languages=tuple(languages), rarity=rarity, weights=weights
    )


def _weights(rows: Sequence[_Example], names: Sequence[str], known: Matrix) -> Matrix:
    import numpy

    columns = {name: at for at, name in enumerate(names)}
    wanted = numpy.zeros((len(rows), len(columns)), dtype=numpy.float32)
    for at, row in enumerate(rows):
        wanted[at, [columns[row.intent], columns[row.code]]] = 1
    weighed = known.T / numpy.asarray([row.smooth for row in rows], numpy.float32)
    square = weighed @ known
    square[numpy.diag_indices_from(square)] += 1
    return numpy.linalg.solve(square, weighed @ wanted).astype(numpy.float32)


def _examples(languages: Mapping[str, Language], normal: Normal) -> Iterator[_Example]:
    """Each different one once: many slots hold what no example knows, and then look alike."""
    seen: set[tuple[str, str]] = set()
    for language in languages.values():
        for text, intent, smooth in (*_typed(language), *_acts(language)):
            plainly = normal.of(text)
            if (plainly, intent) not in seen:
                seen.add((plainly, intent))
                yield _Example(text=plainly, intent=intent, code=language.code, smooth=smooth)


def _typed(language: Language) -> Iterator[tuple[str, str, float]]:
    for intent, templates in language.examples.items():
        for template in templates:
            for text in filled(template):
                yield text, intent, _SMOOTH


def filled(template: str) -> list[str]:
    """The template with its slots filled, in several ways if it has any."""
    start = len(template)
    return sorted({template.format(**_choice(start + way)) for way in range(_WAYS)})


def _choice(number: int) -> dict[str, str]:
    """One value for each slot; another number gives other values."""
    return {slot: values[number % len(values)] for slot, values in _VALUES.items()}


def _acts(language: Language) -> Iterator[tuple[str, str, float]]:
    """What is asked of others, done to the very things that the tools only look at."""
    gap = "" if language.code == "zh" else " "
    objects = [_VALUES[slot][way] for slot in ("path", "frame", "name") for way in (0, 1)]
    polite = language.words["polite"]
    for at, act in enumerate(language.words["acts"]):
        for text in (
            act,
            f"{act}{gap}{objects[at % len(objects)]}",
            f"{polite[at % len(polite)]}{gap}{act}{gap}{objects[0]}",
        ):
            yield text, OUT_OF_SCOPE, _SMOOTH_ACTS


def main() -> None:
    """Fit to the language files and write the file that ships."""
    languages = load_languages()
    normal = Normal(languages, Marker(Arithmetic(one.words for one in languages.values())))
    fit(languages, normal, Embedding()).save(FITTED, digest(languages))


if __name__ == "__main__":
    main()
