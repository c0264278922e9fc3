"""Understands "and the median?" after an answer about a column."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from octo_lab.llm.offline.features import plain
from octo_lab.llm.offline.frames import frame_step
from octo_lab.llm.offline.languages import Language
from octo_lab.llm.offline.marks import Mark
from octo_lab.llm.offline.reading import seen_frame, which_column
from octo_lab.llm.offline.slots import Request
from octo_lab.llm.offline.steps import Call, Step, Turn, result_of

_TEXT = r"(\"(?:[^\"\\]|\\.)*\"|'[^'\\]*')"
_CODE = re.compile(rf"([A-Za-z_]\w*)(?:\.groupby\({_TEXT}\))?\[{_TEXT}\]\.(\w+)\(\)")
_EDGE = " \t\n.,;:!?¿¡。，？！呢吧"
_LONGEST = 6
_ELIDED = re.compile(r"(?<=\b[ldLD])['’]")


@dataclass(frozen=True, slots=True, kw_only=True)
class Before:
    """What the turn before computed: an operation on a column, perhaps by groups."""

    frame: str
    column: str
    operation: str
    group: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """What a follow-up changes; "" is left as it was. ``is_led``: it begins with "and"."""

    language: Language
    is_led: bool
    operation: str = ""
    group: str = ""
    column: str = ""


def before(calls: Sequence[Call]) -> Before | None:
    """What the last call computed, if it is of the form that questions about columns have."""
    code = calls[-1].arguments.get("code") if calls and calls[-1].tool == "python" else None
    match = _CODE.fullmatch(code.strip()) if isinstance(code, str) else None
    if not match:
        return None
    frame, group, column, operation = match.groups()
    return Before(
        frame=frame, column=_text(column), operation=operation, group=_text(group) if group else ""
    )


def _text(quoted: str) -> str:
    return str(json.loads(quoted)) if quoted.startswith('"') else quoted[1:-1]


def asked(text: str, languages: Mapping[str, Language]) -> Asked | None:
    """What a short follow-up asks for; None if ``text`` is no follow-up."""
    said = plain(_ELIDED.sub(" ", text)).strip(_EDGE)
    if not said or len(said.split()) > _LONGEST:
        return None
    found = (_asked(said, text, language) for language in languages.values())
    return next(filter(None, found), None)


def _asked(said: str, text: str, language: Language) -> Asked | None:
    """What is left after the lead: an operation, "for" a column, "by" a group, any of them."""
    rest, is_led = _without_lead(said, language)
    rest, group = _without_end(rest, language.words["group"])
    rest, column = _without_end(rest, language.words["follow_for"])
    rest = _bare(rest, (*language.words["article"], *language.words["polite"]))
    operation = _operation(rest, language)
    is_only_column = column and not (operation or group)
    if (rest and not operation) or not (operation or group or (is_only_column and is_led)):
        return None
    return Asked(
        language=language,
        is_led=is_led,
        operation=operation,
        group=_as_written(group, text),
        column=_as_written(column, text),
    )


def _without_lead(said: str, language: Language) -> tuple[str, bool]:
    for lead in sorted(map(plain, language.words["follow"]), key=len, reverse=True):
        gap = "" if not lead.isascii() else r"\b"
        if match := re.match(rf"{re.escape(lead)}{gap}[\s,]*", said):
            return said[match.end() :].strip(_EDGE), True
    return said, False


def _bare(said: str, words: Iterable[str]) -> str:
    """Without articles and politeness at its ends."""
    for word in sorted(map(plain, words), key=len, reverse=True):
        if word.isascii():
            said = re.sub(rf"^{re.escape(word)}(?:\s+|$)|(?:\s+|^){re.escape(word)}$", "", said)
    return said.strip(_EDGE)


def _operation(said: str, language: Language) -> str:
    for operation, words in language.operations.items():
        if said in map(plain, words):
            return operation
    return ""


def _without_end(said: str, words: Iterable[str]) -> tuple[str, str]:
    """What stands before "by city" at the end, and the city."""
    either = "|".join(re.escape(word) for word in sorted(map(plain, words), key=len, reverse=True))
    end = rf"(?:^|\s)(?:{either})\s+[`\"'@]?([^\W\d]\w*)[`\"']?$"
    match = re.search(end, said)
    return (said[: match.start()].strip(), match[1]) if match else (said, "")


def _as_written(word: str, text: str) -> str:
    return next((one for one in re.findall(r"\w+", text) if plain(one) == word), word)


def follow_step(request: Request, what: Asked, last: Before, turn: Turn) -> Step:
    """The next step for what the follow-up stands for."""
    inspected = result_of(turn.done, "inspect")
    seen = seen_frame(last.frame, inspected.text) if inspected else None
    full = _continued(request, what, last)
    known = {plain(column) for column, _ in seen.columns} if seen else set()
    named = [plain(name) for name in (what.group, what.column) if name]
    if seen and not known.issuperset(named):
        return which_column(full, seen)
    return frame_step(full, turn.done, turn.names)


def _continued(request: Request, what: Asked, last: Before) -> Request:
    """The request that the follow-up stands for."""
    intent = f"frame.{what.operation or last.operation}"
    full = replace(in_language(request, what.language), intent=intent)
    if not (what.group or what.column or last.group):
        item = Mark(kind="item", start=0, end=0, value=last.frame, column=last.column)
        return replace(full, marks=(item,))
    group = what.group or last.group
    by = f" {what.language.words['group'][0]} {group}" if group else ""
    frame = Mark(kind="name", start=0, end=0, value=last.frame)
    return replace(full, marks=(frame,), text=f"{what.column or last.column}{by}")


def in_language(request: Request, language: Language) -> Request:
    """The request as one in that language; so short, it may have been taken for another."""
    order = sorted(request.languages, key=lambda one: one.code != language.code)
    return replace(request, languages=tuple(order))
