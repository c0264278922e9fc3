"""What a site asks of robots (RFC 9309): which paths they should leave alone."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from urllib.parse import quote, unquote

AGENT = "octo_lab"
MAX_BYTES = 500_000
_RULES = 2_000
_LONGEST = 500


@dataclass(frozen=True, slots=True, kw_only=True)
class Rule:
    """``path`` may have ``*`` for anything and end with ``$``."""

    allow: bool
    path: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Robots:
    """The rules that are for us; none: everything may be read."""

    rules: tuple[Rule, ...] = ()

    def allows(self, path: str) -> bool:
        """The longest rule that fits decides; of two as long, the one that allows."""
        asked = _normal(path)
        fitting = [rule for rule in self.rules if _fits(rule.path, asked)]
        if not fitting or asked == "/robots.txt":
            return True
        return max(fitting, key=lambda rule: (len(rule.path), rule.allow)).allow


NOTHING = Robots(rules=(Rule(allow=False, path="/"),))
"""Where a site's wishes could not be learnt, though it has some."""


def parse_robots(text: str, agent: str = AGENT) -> Robots:
    """The groups that name ``agent``, together, else those for all. Raises nothing."""
    own: list[Rule] = []
    everyones: list[Rule] = []
    named = False
    for agents, rules in _groups(text):
        if any(one and agent.startswith(one) for one in agents):
            named = True
            own += rules
        elif "*" in agents:
            everyones += rules
    return Robots(rules=tuple((own if named else everyones)[:_RULES]))


def _groups(text: str) -> Iterator[tuple[set[str], list[Rule]]]:
    agents: set[str] = set()
    rules: list[Rule] = []
    open_to_names = True
    for name, value in _lines(text):
        if name == "user-agent":
            if not open_to_names:
                yield agents, rules
                agents, rules, open_to_names = set(), [], True
            agents.add(value.lower().partition("/")[0].strip())
        elif name in ("allow", "disallow"):
            open_to_names = False
            if value:
                rules.append(Rule(allow=name == "allow", path=_normal(value[:_LONGEST])))
    yield agents, rules


def _lines(text: str) -> Iterator[tuple[str, str]]:
    for line in text.lstrip("\ufeff").splitlines():
        name, colon, value = line.partition("#")[0].partition(":")
        if colon:
            yield name.strip().lower(), value.strip()


def _normal(path: str) -> str:
    """Both sides of a comparison in one spelling."""
    return quote(unquote(path), safe="/?&=*$:;,@!+~()'-._")


def _fits(pattern: str, path: str) -> bool:
    """From the beginning; in linear time, piece after piece."""
    whole = pattern.endswith("$")
    first, *others = pattern.removesuffix("$").split("*")
    if not path.startswith(first):
        return False
    place = len(first)
    for piece in others[:-1] if whole and others else others:
        found = path.find(piece, place)
        if found < 0:
            return False
        place = found + len(piece)
    if not whole:
        return True
    if not others:
        return path == first
    return path.endswith(others[-1]) and len(path) - len(others[-1]) >= place
