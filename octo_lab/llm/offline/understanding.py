"""Reads a request: what it asks for, in which language, and what it names."""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import cached_property
from zoneinfo import available_timezones

from octo_lab.llm.offline.arithmetic import Arithmetic
from octo_lab.llm.offline.features import plain
from octo_lab.llm.offline.intents import OUT_OF_SCOPE, Intents, Match
from octo_lab.llm.offline.languages import Language, load_languages
from octo_lab.llm.offline.marks import Mark, Marker
from octo_lab.llm.offline.slots import Request

SCORE = 0.38
LEAD = 0.08
_READ = 1500
# As the session writes attachments under the words of a person.
_ATTACHED = re.compile(r"\n\n\[attached: ([^\]\n]+)\]\n.*?(?=\n\n\[attached: |\Z)", re.DOTALL)
_REGIONS = ("Africa", "America", "Asia", "Atlantic", "Australia", "Europe", "Indian", "Pacific")


class Understanding:
    """Everything learnt from the examples; costs about two seconds to make, once a process."""

    def __init__(self) -> None:
        self.languages = load_languages()
        self._marker = Marker(Arithmetic(one.words for one in self.languages.values()))
        self._intents = Intents(self.languages, self._marker)
        self.zones = _zones(self.languages.values())

    def read(self, text: str) -> Request:
        """Understand ``text``; of a long one only the start, where people put what they want."""
        asked, *rest = _ATTACHED.split(text)
        text = asked.strip()[:_READ]
        marks = self._marker.find(text)
        match = self._intents.match(text)
        return Request(
            text=text,
            marks=marks,
            intent=_settled(match, marks),
            language=self.languages[match.language],
            others=tuple(self._others(match.language)),
            attached=tuple(name for name in rest if name),
        )

    def zone(self, request: Request) -> str | None:
        """The time zone of the place that the request names."""
        text = f" {plain(request.text)} "
        for name, zone in self._places:
            if re.search(name, text):
                return zone
        return None

    @cached_property
    def _places(self) -> list[tuple[str, str]]:
        longest_first = sorted(self.zones, key=lambda name: (-len(name), name))
        return [(_place(name), self.zones[name]) for name in longest_first]

    def _others(self, code: str) -> list[Language]:
        return [self.languages["en"]] if code != "en" else []


def _settled(match: Match, marks: tuple[Mark, ...]) -> str:
    """The matched intent, if it is sure enough and can be meant with these marks."""
    if match.score < SCORE or match.lead < LEAD:
        return OUT_OF_SCOPE
    kinds = {mark.kind for mark in marks}
    if match.intent == "compute" and not kinds & {"math", "code", "name", "item"}:
        return OUT_OF_SCOPE
    return match.intent


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
