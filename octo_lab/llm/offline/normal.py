"""Writes a request without what is particular to it, so that alike requests look alike."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from difflib import get_close_matches

from octo_lab.llm.offline.features import plain
from octo_lab.llm.offline.languages import Language
from octo_lab.llm.offline.marks import FOLDER, STANDS_FOR, Marker, masked

_SLOT = re.compile(r"\{\w+\}")
_UNKNOWN = "thing"
_TYPO = 0.85  # how alike an unknown word must be to a known one to be a slip of it
_LATIN = re.compile(r"[a-z_][a-z0-9_]*")


class Normal:
    """Marks and words that no example knows become words for their kind."""

    def __init__(self, languages: Mapping[str, Language], marker: Marker) -> None:
        self._marker = marker
        self._known = _ordinary_words(languages)

    def of(self, text: str) -> str:
        return _LATIN.sub(self._word, plain(masked(text, self._marker.find(text))))

    def _word(self, match: re.Match[str]) -> str:
        """The word itself if examples know it, the one it is a slip of, or a word for any."""
        word = match[0]
        return word if word in self._known else slip_of(word, self._known) or _UNKNOWN


def slip_of(word: str, known: Iterable[str]) -> str | None:
    """The known word that ``word`` is a slip or a form of."""
    if len(word) < 5:
        return None
    near = [one for one in known if one[:2] == word[:2] and abs(len(one) - len(word)) < 3]
    return next(iter(get_close_matches(word, near, n=1, cutoff=_TYPO)), None)


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
