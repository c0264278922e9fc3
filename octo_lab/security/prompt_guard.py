"""Scores how much a text of strangers reads like orders to a model: a signal, no wall."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import islice
from typing import Any, Literal

import re2

from octo_lab.security.disguises import hidden
from octo_lab.security.fold import folded, imitations, unseen
from octo_lab.security.guard_rules import RULES, SHAPES, Kind
from octo_lab.security.guard_words import WORDS

Level = Literal["none", "low", "medium", "high"]

READ = 200_000
_UNIT = 240
_HITS = 2_000
_LEVELS: tuple[tuple[float, Level], ...] = ((0.75, "high"), (0.5, "medium"), (0.25, "low"))
_END = re.compile(
    r"(?<![.!?;])[.!?;]++(?=\s)|[\u3002\uff01\uff1f\uff1b]+"
    r"|\n(?=[^\S\n]*+\n|[ \t]*+(?:[-*+|#>]|[\w-]{1,30}:\s))"
)
_CALL = (
    r"(?:call|use|using|invoke|run|execute|trigger|rufe|nutze|verwende|appelle|appelez|utilise|"
    r"utilisez|llama a|usa|utiliza|chiama|utilizza|chame|"
    + folded("вызови|используй")
    + r"|调用|使用|呼び出し)[ :]{0,2}(?:the |tool |function |das tool |l'outil |la herramienta |"
    r"lo strumento |a ferramenta |工具)?[`\"']?[a-z]{2,20}(?:_[a-z0-9]{1,20}){1,4}"
)
_TARGET = r"[a-z0-9._+-]{1,64}@[a-z0-9-]{1,63}\.[a-z]|https?://|external address|outside address"


@dataclass(frozen=True, slots=True, kw_only=True)
class Assessment:
    """``score`` is from 0 to 1; ``reasons`` say in words what was found, the gravest first."""

    score: float = 0.0
    kinds: tuple[Kind, ...] = ()
    reasons: tuple[str, ...] = ()

    @property
    def level(self) -> Level:
        return next((level for least, level in _LEVELS if self.score >= least), "none")

    @property
    def flagged(self) -> bool:
        """Whether it is worth a word: medium or high."""
        return self.level in ("medium", "high")


@dataclass(frozen=True, slots=True)
class _Hit:
    weight: float
    kind: Kind
    reason: str


def assess(text: str) -> Assessment:
    """Read the first and last of ``text``, at most ``READ`` characters, also undisguised."""
    if len(text) > READ:
        text = f"{text[: READ * 2 // 3]}\n\n{text[-READ // 3 :]}"
    best = plain = _weighed(_hits(text))
    for name, revealed in hidden(text):
        inside = _weighed(_hits(revealed))
        if inside.flagged and inside.score > plain.score + 0.2:
            best = max(best, _disguised(name, inside), key=lambda a: a.score)
    return _with_oddities(text, best)


def _disguised(name: str, inside: Assessment) -> Assessment:
    reasons = (f"hides words as {name}", *inside.reasons)
    return Assessment(score=_either(inside.score, 0.3), kinds=inside.kinds, reasons=reasons)


def _with_oddities(text: str, found: Assessment) -> Assessment:
    """Letters nobody sees, or that imitate others, make what was found graver."""
    odd: list[tuple[float, str]] = []
    if imitations(text) >= 3:
        odd.append((0.25, "writes words with letters of another alphabet that look alike"))
    if unseen(text) >= 5:
        odd.append((0.2, "holds characters that nobody sees"))
    score = found.score
    for weight, _ in odd:
        score = _either(score, weight)
    reasons = (*found.reasons, *(reason for _, reason in odd))
    return Assessment(score=round(score, 2), kinds=found.kinds, reasons=reasons)


def _weighed(units: Iterable[Sequence[_Hit]]) -> Assessment:
    """The gravest unit of the text: each kind counts once, by its gravest hit."""
    best = Assessment()
    for hits in units:
        kinds: dict[Kind, _Hit] = {}
        for hit in sorted(hits, key=lambda hit: -hit.weight):
            kinds.setdefault(hit.kind, hit)
        score = 0.0
        for hit in kinds.values():
            score = _either(score, hit.weight)
        if score > best.score:
            reasons = tuple(dict.fromkeys(hit.reason for hit in kinds.values()))
            best = Assessment(score=score, kinds=tuple(kinds), reasons=reasons)
    return best


def _either(one: float, other: float) -> float:
    return 1 - (1 - one) * (1 - other)


def _hits(text: str) -> Iterable[Sequence[_Hit]]:
    """What was found, by unit: a sentence, or a piece of a long one."""
    seen = folded(text)
    starts = _units(seen)
    ideas = _ideas_by_unit(seen, starts)
    found: dict[int, list[_Hit]] = defaultdict(list)
    for unit, present in ideas.items():
        found[unit] += [
            _Hit(rule.weight, rule.kind, rule.reason)
            for needed, rule in _needed()
            if needed <= present
        ]
    for pattern, shape in _shapes():
        match = pattern.search(seen)
        if match:
            unit = bisect_right(starts, match.start())
            found[unit].append(_Hit(shape.weight, shape.kind, shape.reason))
    return found.values()


def _units(text: str) -> list[int]:
    """Where the units begin, but the first."""
    starts: list[int] = []
    last = 0
    for end in [*(match.end() for match in _END.finditer(text)), len(text)]:
        starts += range(last + _UNIT, end - _UNIT // 2, _UNIT)
        starts.append(end)
        last = end
    return starts


def _ideas_by_unit(text: str, starts: Sequence[int]) -> dict[int, set[str]]:
    found: dict[int, set[str]] = defaultdict(set)
    for idea, pattern in _patterns().items():
        for match in islice(pattern.finditer(text), _HITS):
            found[bisect_right(starts, match.start())].add(idea)
    return found


@cache
def _needed() -> tuple[tuple[frozenset[str], Any], ...]:
    return tuple((frozenset(rule.ideas.split()), rule) for rule in RULES)


@cache
def _shapes() -> tuple[tuple[Any, Any], ...]:
    return tuple((re2.compile(shape.pattern), shape) for shape in SHAPES)


@cache
def _patterns() -> dict[str, Any]:
    words = {idea: "|".join(_alternatives(listed)) for idea, listed in WORDS.items()}
    return {
        idea: re2.compile(pattern)
        for idea, pattern in {**words, "tool": _CALL, "target": _TARGET}.items()
    }


def _alternatives(listed: str) -> Iterable[str]:
    for word in filter(None, (part.strip() for part in listed.split("|"))):
        stem = word.rstrip("*")
        first = r"\b" if stem[0].isascii() and stem[0].isalnum() else ""
        last = r"\b" if stem == word and word[-1].isascii() and word[-1].isalnum() else ""
        yield first + re.escape(folded(stem)).replace(r"\ ", r"\s+") + last
