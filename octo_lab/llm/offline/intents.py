"""Learns from the example requests what a request asks for, and how sure that is."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from octo_lab.llm.offline.features import Features, plain
from octo_lab.llm.offline.languages import Language
from octo_lab.llm.offline.marks import Marker, masked

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

OUT_OF_SCOPE = "out_of_scope"
_SMOOTH = 0.35
# What a slot may hold in an example; two values, so that no single word is learnt.
_VALUES: Mapping[str, tuple[str, str]] = {
    "path": ("report.csv", "lib/tool.py"),
    "dir": ("lib/", "pictures"),
    "pattern": ('"needle"', "handler"),
    "name": ("`thing`", "counter"),
    "frame": ("frame", "orders"),
    "column": ("amount", '"weight"'),
    "group": ("kind", "country"),
    "n": ("10", "25"),
    "m": ("20", "40"),
    "math": ("12 + 30", "6 * 7"),
    "code": ("`len(things)`", "max(things)"),
    "glob": ("*.py", "*.md"),
    "place": ("London", "Sydney"),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Match:
    """The likeliest intent with its score (about 1 for an example), and the language."""

    intent: str
    score: float
    lead: float
    language: str

    @property
    def family(self) -> str:
        return family(self.intent)


def family(intent: str) -> str:
    """``frame`` of ``frame.mean``: intents of one family ask for the same kind of thing."""
    return intent.partition(".")[0]


class Intents:
    """A linear classifier over the features, fitted in closed form (kernel ridge)."""

    def __init__(self, languages: Mapping[str, Language], marker: Marker) -> None:
        import numpy as np  # heavy: only when the first offline turn comes

        self._np = np
        self._marker = marker
        rows = [row for language in languages.values() for row in _rows(language)]
        self._intents = sorted({intent for _, intent, _ in rows})
        self._languages = list(languages)
        texts = [self._normal(text) for text, _, _ in rows]
        self._features = Features(texts)
        self._weights = self._fit(texts, [(intent, code) for _, intent, code in rows])

    def match(self, text: str) -> Match:
        """What ``text`` most likely asks for."""
        scores = self._features.of([self._normal(text)])[0] @ self._weights
        by_intent = dict(zip(self._intents, map(float, scores), strict=False))
        totals: dict[str, float] = {}
        for intent, score in by_intent.items():
            totals[family(intent)] = totals.get(family(intent), 0.0) + score
        best, second = sorted(totals, key=lambda name: -totals[name])[:2]
        members = [intent for intent in self._intents if family(intent) == best]
        languages = scores[len(self._intents) :]
        return Match(
            intent=max(members, key=lambda intent: by_intent[intent]),
            score=totals[best],
            lead=totals[best] - totals[second],
            language=self._languages[int(self._np.argmax(languages))],
        )

    def _normal(self, text: str) -> str:
        return plain(masked(text, self._marker.find(text)))

    def _fit(self, texts: Sequence[str], labels: Sequence[tuple[str, str]]) -> NDArray[np.float32]:
        np = self._np
        columns = {name: at for at, name in enumerate([*self._intents, *self._languages])}
        wanted = np.zeros((len(texts), len(columns)), dtype=np.float32)
        for row, pair in enumerate(labels):
            wanted[row, [columns[name] for name in pair]] = 1
        known = self._features.of(texts)
        kernel = known @ known.T + _SMOOTH * np.eye(len(texts), dtype=np.float32)
        fitted: NDArray[np.float32] = known.T @ np.linalg.solve(kernel, wanted)
        return fitted


def _rows(language: Language) -> Iterator[tuple[str, str, str]]:
    for intent, templates in language.examples.items():
        for template in templates:
            for text in filled(template):
                yield text, intent, language.code
    for text in _acts(language):
        yield text, OUT_OF_SCOPE, language.code


def filled(template: str) -> list[str]:
    """The template with its slots filled, in both ways if it has any."""
    ways = [
        template.format(**{slot: pair[way] for slot, pair in _VALUES.items()}) for way in (0, 1)
    ]
    return sorted(set(ways))


def _acts(language: Language) -> Iterator[str]:
    """What is asked of others, done to the very things that the tools only look at."""
    gap = "" if language.code == "zh" else " "
    objects = [_VALUES[slot][way] for slot in ("path", "frame", "name") for way in (0, 1)]
    polite = language.words["polite"]
    for at, act in enumerate(language.words["acts"]):
        yield act
        yield f"{act}{gap}{objects[at % len(objects)]}"
        yield f"{polite[at % len(polite)]}{gap}{act}{gap}{objects[0]}"
