"""Learns from the example requests what a request asks for, and how sure that is."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from typing import TYPE_CHECKING

from octo_lab.llm.offline.features import Features, plain
from octo_lab.llm.offline.languages import Language
from octo_lab.llm.offline.marks import FOLDER, STANDS_FOR, Marker, masked

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

OUT_OF_SCOPE = "out_of_scope"
_SMOOTH = 0.35
_SMOOTH_ACTS = 1.5  # made up by the hundred, they must not outweigh what people were seen to type
_SLOT = re.compile(r"\{\w+\}")
_UNKNOWN = "thing"
_WAYS = 3
_TYPO = 0.85  # how alike an unknown word must be to a known one to be a slip of it
_LATIN = re.compile(r"[a-z_][a-z0-9_]*")
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
    """A linear classifier over the features, fitted in closed form (ridge regression)."""

    def __init__(self, languages: Mapping[str, Language], marker: Marker) -> None:
        import numpy  # heavy: only when the first offline turn comes

        self._np = numpy
        self._marker = marker
        self._known = _ordinary_words(languages)
        self._settled: dict[str, str] = {}
        rows = list(self._examples(languages))
        self._intents = sorted({row.intent for row in rows})
        self._languages = list(languages)
        self._features = Features([row.text for row in rows])
        self._weights = self._fit(rows)

    def _examples(self, languages: Mapping[str, Language]) -> Iterator[_Example]:
        """Each different one once: many slots hold what no example knows, and then look alike."""
        seen: set[tuple[str, str]] = set()
        for language in languages.values():
            for text, intent, smooth in (*_typed(language), *_acts(language)):
                normal = self._normal(text)
                if (normal, intent) not in seen:
                    seen.add((normal, intent))
                    yield _Example(text=normal, intent=intent, code=language.code, smooth=smooth)

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
        """The text without what is particular: marks and words that no example knows."""
        return _LATIN.sub(self._word, plain(masked(text, self._marker.find(text))))

    def _word(self, match: re.Match[str]) -> str:
        word = match[0]
        if word not in self._settled:
            self._settled[word] = self._ordinary(word)
        return self._settled[word]

    def _ordinary(self, word: str) -> str:
        """The word itself if examples know it, the one it is a slip of, or a word for any."""
        if word in self._known:
            return word
        return slip_of(word, self._known) or _UNKNOWN

    def _fit(self, rows: Sequence[_Example]) -> NDArray[np.float32]:
        numpy = self._np
        columns = {name: at for at, name in enumerate([*self._intents, *self._languages])}
        wanted = numpy.zeros((len(rows), len(columns)), dtype=numpy.float32)
        for at, row in enumerate(rows):
            wanted[at, [columns[row.intent], columns[row.code]]] = 1
        known = self._features.known
        weighed = known.T / numpy.asarray([row.smooth for row in rows], numpy.float32)
        square = weighed @ known
        square[numpy.diag_indices_from(square)] += 1
        fitted: NDArray[np.float32] = numpy.linalg.solve(square, weighed @ wanted)
        return fitted


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


def _ordinary_words(languages: Mapping[str, Language]) -> frozenset[str]:
    """The words of the examples themselves, without what fills their slots."""
    texts = [
        text
        for language in languages.values()
        for group in (*language.examples.values(), language.words["acts"])
        for text in group
    ]
    texts += [
        FOLDER,
        *STANDS_FOR.values(),
        *(word for one in languages.values() for word in one.words["polite"]),
    ]
    return frozenset(word for text in texts for word in _LATIN.findall(plain(_SLOT.sub(" ", text))))


def slip_of(word: str, known: Iterable[str]) -> str | None:
    """The known word that ``word`` is a slip or a form of."""
    if len(word) < 5:
        return None
    near = [one for one in known if one[:2] == word[:2] and abs(len(one) - len(word)) < 3]
    return next(iter(get_close_matches(word, near, n=1, cutoff=_TYPO)), None)


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
