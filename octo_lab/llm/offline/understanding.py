"""Reads a request: what it asks for, in which language, and what it names."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import replace
from functools import cached_property
from zoneinfo import available_timezones

from octo_lab.core.messages import ToolSpec
from octo_lab.llm.offline.arithmetic import Arithmetic
from octo_lab.llm.offline.coverage import Coverage
from octo_lab.llm.offline.embedding import Embedding
from octo_lab.llm.offline.features import plain
from octo_lab.llm.offline.fitted import OUT_OF_SCOPE
from octo_lab.llm.offline.intents import Intents, Match, family
from octo_lab.llm.offline.languages import Language, load_languages
from octo_lab.llm.offline.marks import Mark, Marker
from octo_lab.llm.offline.normal import Normal
from octo_lab.llm.offline.own import Fit, OwnTools
from octo_lab.llm.offline.slots import (
    Request,
    aligned,
    bare_folders,
    is_findable,
    rare_words,
    unmarked,
    vocabulary,
)

_ABOUT_ITSELF = ("docs.overview", "docs.offline")
SCORE = 0.33
LEAD = 0.04
_UNBACKED = 0.4
_READ = 1500
# As the session writes attachments under the words of a person.
_ATTACHED = re.compile(r"\n\n\[attached: ([^\]\n]+)\]\n.*?(?=\n\n\[attached: |\Z)", re.DOTALL)
_CHINESE = re.compile(r"[\u4e00-\u9fff]")
_REGIONS = ("Africa", "America", "Asia", "Atlantic", "Australia", "Europe", "Indian", "Pacific")


class Understanding:
    """Everything learnt from the examples; made once a process."""

    def __init__(self) -> None:
        self.languages = load_languages()
        self._marker = Marker(Arithmetic(one.words for one in self.languages.values()))
        self.embedding = Embedding()
        normal = Normal(self.languages, self._marker)
        self._intents = Intents(self.languages, normal, self.embedding)
        self._coverage = Coverage(self.languages)
        self._typed = {
            _key(template): intent
            for language in self.languages.values()
            for intent, templates in language.examples.items()
            for template in templates
            if "{" not in template
        }
        self._ordinary = vocabulary(self.languages.values())
        acts = {
            word
            for language in self.languages.values()
            for act in language.words["acts"]
            for word in plain(act).split()
        }
        self.own = OwnTools(
            embedding=self.embedding,
            common=self._coverage.common,
            generic={*self._coverage.every_word, *acts},
        )
        self.zones = _zones(self.languages.values())

    def read(self, text: str) -> Request:
        """Understand ``text``; of a long one only the start, where people put what they want."""
        asked, *rest = _ATTACHED.split(text)
        text = asked.strip()[:_READ]
        known = self._typed.get(_key(text))
        marks = self._marker.find(text)
        match = self._intents.match(text)
        request = Request(
            text=text,
            marks=marks,
            intent=_settled(match, marks),
            languages=self._languages(text, match.language),
            ordinary=self._ordinary,
            attached=tuple(name for name in rest if name),
        )
        if known:
            return replace(request, intent=known, sureness=1.0)
        if request.intent == OUT_OF_SCOPE or not self._is_covered(request):
            return replace(request, intent=OUT_OF_SCOPE)
        return replace(request, sureness=match.score)

    def _is_covered(self, request: Request) -> bool:
        """Whether the words of the request are about what its intent is about."""
        kind, text = family(request.intent), unmarked(request)
        if kind == "docs" and request.intent not in _ABOUT_ITSELF:
            return self._coverage.is_about_octo(request.text)
        if kind == "get_time":
            text = self._place_in(text)[1]
        if kind in ("grep", "read_file") and not is_findable(request):
            return False
        return not self._coverage.is_strange(kind, text, _slots(request, kind), _allowed(request))

    def own_fits(self, request: Request, tools: Sequence[ToolSpec], others: float) -> list[Fit]:
        """The person's own tools by how well the request fits them.

        Where a built-in tool may be meant, its own words speak for no other.
        """
        taken = self._coverage.words_of(family(request.intent)) if others else ()
        return self.own.ranked(request, tools, taken)

    def backing(self, request: Request) -> float:
        """How sure a built-in intent is, less so when its examples have none of the words."""
        share = self._coverage.share(family(request.intent), self.own.content(request.text))
        return request.sureness * (_UNBACKED + (1 - _UNBACKED) * share)

    def zone(self, request: Request) -> str | None:
        """The time zone of the place that the request names."""
        return self._place_in(request.text)[0]

    def _place_in(self, text: str) -> tuple[str | None, str]:
        """The time zone named in ``text``, and the text without the name."""
        low = plain(text)
        for name, zone in self._places:
            if match := re.search(name, low):
                return zone, low[: match.start()] + low[match.end() :]
        return None, low

    @cached_property
    def _places(self) -> list[tuple[str, str]]:
        longest_first = sorted(self.zones, key=lambda name: (-len(name), name))
        return [(_place(name), self.zones[name]) for name in longest_first]

    def _languages(self, text: str, guess: str) -> tuple[Language, ...]:
        """All of them, the likeliest first: people mix languages, and short texts mislead."""
        first = "zh" if _CHINESE.search(text) else guess
        return tuple(sorted(self.languages.values(), key=lambda one: one.code != first))


def _settled(match: Match, marks: tuple[Mark, ...]) -> str:
    """The matched intent, if it is sure enough and can be meant with these marks."""
    if match.score < SCORE or match.lead < LEAD:
        return OUT_OF_SCOPE
    kinds = {mark.kind for mark in marks}
    if match.intent == "compute" and not kinds & {"math", "code", "name", "item"}:
        return OUT_OF_SCOPE
    return match.intent


def _allowed(request: Request) -> int:
    """How many words may be about something else: none where there is little else to go by."""
    kind = family(request.intent)
    if kind in ("hello", "thanks"):
        return 1
    is_bare = kind in ("docs", "about") or (kind == "list_dir" and not request.marks)
    return 0 if is_bare or len(request.text.split()) < 4 else 1


def _slots(request: Request, kind: str) -> list[str]:
    """The words that stand for something particular: names, columns, what to search for."""
    if kind == "frame":
        slots = ("frame", "column", "group")
        return [*rare_words(request), *(word for slot in slots for word in aligned(request, slot))]
    if kind == "list_dir":
        return bare_folders(request)[:1]
    if kind == "inspect_variable":
        return [*rare_words(request)[:1], *aligned(request, "name")[:1]]
    if kind in ("grep", "read_file"):
        return [*rare_words(request)[:2], *aligned(request, "pattern")[:1]]
    return []


def _key(text: str) -> str:
    """What makes two requests the same, whatever their capitals, accents and end."""
    return " ".join(plain(text).strip(" ?!.,¿¡。？！").split())


def _place(name: str) -> str:
    return rf"(?<!\w){re.escape(name)}(?!\w)" if name.isascii() else re.escape(name)


def _zones(languages: Iterable[Language]) -> dict[str, str]:
    zones: dict[str, str] = {}
    for zone in sorted(available_timezones()):
        region, _, city = zone.rpartition("/")
        if region.startswith(_REGIONS):
            zones.setdefault(plain(city.replace("_", " ")), zone)
    for language in languages:
        zones |= {plain(name): zone for name, zone in language.places.items()}
    return zones
