"""Tells whether the examples of an intent account for the words of a request."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterable, Mapping

from octo_lab.llm.offline.features import plain
from octo_lab.llm.offline.fitted import OUT_OF_SCOPE
from octo_lab.llm.offline.intents import family
from octo_lab.llm.offline.languages import Language
from octo_lab.llm.offline.normal import slip_of

_SLOT = re.compile(r"\{\w+\}")
_WORD = re.compile(r"[a-z_%][a-z0-9_]*")
_CHINESE = re.compile(r"[\u4e00-\u9fff]")
_EVERYWHERE = 4  # words of so many families say nothing about any of them
_STRANGE_SHARE = 0.34


class Coverage:
    """Which words belong to which family of intents.

    A classifier knows what a request resembles, not that it is about something else: "how do I
    center a div" resembles "how do I start a session". Its words do.
    """

    def __init__(self, languages: Mapping[str, Language]) -> None:
        self._words: dict[str, set[str]] = {}
        self._signs: dict[str, set[str]] = {}
        for language in languages.values():
            self._learn(language)
        spread = Counter(word for words in self._words.values() for word in words)
        polite = {
            word
            for language in languages.values()
            for role in ("polite", "filler", "article", "here", "inside", "group")
            for text in language.words[role]
            for word in _words(text)
        }
        self.common = polite | {word for word, count in spread.items() if count >= _EVERYWHERE}
        self._topics = frozenset(
            plain(word) for language in languages.values() for word in language.words["topics"]
        )

    def _learn(self, language: Language) -> None:
        for intent, templates in language.examples.items():
            kind = family(intent)
            if kind == OUT_OF_SCOPE:
                continue
            text = plain(" ".join(_SLOT.sub(" ", template) for template in templates))
            self._words.setdefault(kind, set()).update(_words(text))
            self._signs.setdefault(kind, set()).update(_CHINESE.findall(text))

    def strange(self, kind: str, text: str, slots: Iterable[str] = ()) -> int:
        """How many words of ``text`` neither the family nor its slots account for."""
        taken = {word for slot in slots for word in _words(plain(slot))}
        known = self._words.get(kind, set()) | self.common | taken
        return sum(not _is_known(word, known) for word in _words(plain(text)))

    def is_strange(self, kind: str, text: str, slots: Iterable[str] = (), allowed: int = 1) -> bool:
        """Whether more than ``allowed`` words, or much of the Chinese, are about something else."""
        strange = self.strange(kind, text, slots)
        words = len(_words(plain(text)))
        if strange > allowed or (words and strange / words > 0.5):
            return True
        signs = _CHINESE.findall(text)
        odd = [sign for sign in signs if sign not in self._signs.get(kind, set())]
        return len(odd) > _STRANGE_SHARE * len(signs)

    def words_of(self, kind: str) -> Collection[str]:
        """The words that the examples of a family have."""
        return self._words.get(kind, set()) - self.common

    @property
    def every_word(self) -> Collection[str]:
        return set().union(*self._words.values())

    def share(self, kind: str, words: Collection[str]) -> float:
        """Which part of ``words`` the family knows."""
        known = self._words.get(kind, set())
        return sum(_is_known(word, known) for word in words) / len(words) if words else 1.0

    def is_about_octo(self, text: str) -> bool:
        """Whether the text names something that octo_lab's own pages are about."""
        low = plain(text)
        return any(
            topic in low
            if _CHINESE.search(topic)
            else re.search(rf"(?<![a-z]){re.escape(topic)}", low)
            for topic in self._topics
        )


def _words(text: str) -> list[str]:
    return _WORD.findall(text)


def _is_known(word: str, known: Collection[str]) -> bool:
    return word in known or len(word) == 1 or slip_of(word, known) is not None
