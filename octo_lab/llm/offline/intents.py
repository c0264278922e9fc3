"""Says what a request asks for, and how sure that is."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from octo_lab.llm.offline.embedding import Embedding
from octo_lab.llm.offline.features import Features
from octo_lab.llm.offline.fitted import FITTED, load_fitted
from octo_lab.llm.offline.fitting import fit
from octo_lab.llm.offline.languages import Language, digest
from octo_lab.llm.offline.normal import Normal


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
    """The classifier; language files that were changed after it was fitted are fitted anew."""

    def __init__(
        self, languages: Mapping[str, Language], normal: Normal, embedding: Embedding
    ) -> None:
        import numpy  # loaded by the first offline turn only

        self._np = numpy
        self._normal = normal
        kept = load_fitted(FITTED, digest(languages))
        self._fitted = kept or fit(languages, normal, embedding)
        self._features = Features(embedding, self._fitted.rarity)

    def match(self, text: str) -> Match:
        """What ``text`` most likely asks for."""
        scores = self._features.of([self._normal.of(text)])[0] @ self._fitted.weights
        by_intent = dict(zip(self._fitted.intents, map(float, scores), strict=False))
        totals: dict[str, float] = {}
        for intent, score in by_intent.items():
            totals[family(intent)] = totals.get(family(intent), 0.0) + score
        best, second = sorted(totals, key=lambda name: -totals[name])[:2]
        members = [intent for intent in self._fitted.intents if family(intent) == best]
        languages = scores[len(self._fitted.intents) :]
        return Match(
            intent=max(members, key=lambda intent: by_intent[intent]),
            score=totals[best],
            lead=totals[best] - totals[second],
            language=self._fitted.languages[int(self._np.argmax(languages))],
        )
