"""Finds the pieces of a request that may be the text for a parameter."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from octo_lab.core.messages import ToolSpec
from octo_lab.llm.offline.features import plain
from octo_lab.llm.offline.own import resolved, tool_vocabulary
from octo_lab.llm.offline.slots import Request, rare_words

Span = tuple[int, int, str]
_LOW = r"\d_a-zß-öø-ÿ\u2e80-\u9fff"
_PROPER = re.compile(rf"(?<![\w@`\"'])[^\W{_LOW}][\w'’.-]*\w(?: [^\W{_LOW}][\w'’-]+)*")
_TAIL = re.compile(r":\s+(\S.*)$", re.DOTALL)


@dataclass(slots=True, kw_only=True)
class Filling:
    """What is left of the request while arguments are taken out of it; blanks keep places."""

    request: Request
    tool: ToolSpec
    text: str
    found: dict[str, Any] = field(default_factory=dict)

    @property
    def parts(self) -> Mapping[str, Any]:
        schema = self.tool.schema
        return {name: resolved(part, schema) for name, part in schema.get("properties", {}).items()}

    @property
    def required(self) -> list[str]:
        return list(self.tool.schema.get("required", ()))

    def open(self, *kinds: str) -> list[str]:
        """Required parameters of these types that have no value yet."""
        return [
            name
            for name in self.required
            if name not in self.found and self.parts.get(name, {}).get("type") in kinds
        ]

    def take(self, name: str, value: Any, start: int, end: int) -> None:
        self.found[name] = value
        self.text = _blanked(self.text, start, end)


def _blanked(text: str, start: int, end: int) -> str:
    return text[:start] + " " * (end - start) + text[end:]


def candidates(filling: Filling, wanted: int) -> list[Span]:
    """Pieces of text that may be values: marked ones, else proper names, else the one odd word."""
    kinds = {"quote", "name", "code", "item"}
    if any(re.search("path|file|folder|dir", name) for name in filling.open("string")):
        kinds.add("path")
    marked = [(m.start, m.end, m.value) for m in filling.request.marks if m.kind in kinds]
    marked = [span for span in marked if filling.text[span[0] : span[1]].strip()]
    if marked:
        return marked
    for mark in filling.request.marked("path", "glob"):  # a file is no word or name
        filling.text = _blanked(filling.text, mark.start, mark.end)
    if proper := _proper(filling):
        return proper
    if wanted == 1 and (tail := _TAIL.search(filling.text)):
        return [(*tail.span(1), tail[1].strip())]
    return _odd(filling) if wanted == 1 else []


def _proper(filling: Filling) -> list[Span]:
    """Capitalised names. The first word of a sentence counts only when no other one does."""
    spans = []
    for match in _PROPER.finditer(filling.text):
        start, value = match.start(), match[0]
        if not filling.text[:start].strip() and _is_ordinary(value.split()[0], filling):
            first, _, value = value.partition(" ")
            start += len(first) + 1
        if not all(_is_ordinary(word, filling) for word in value.split()):
            spans.append((start, match.end(), value))
    later = [span for span in spans if filling.text[: span[0]].strip()]
    return later or spans


def _is_ordinary(word: str, filling: Filling) -> bool:
    low = plain(word)
    known = tool_vocabulary(filling.tool)
    return low in known or low.rstrip("s") in known or low in filling.request.ordinary


def _odd(filling: Filling) -> list[Span]:
    """The only word that neither requests nor the tool use, at the end or after a preposition."""
    words = [word for word in rare_words(filling.request) if not _is_ordinary(word, filling)]
    spans = [
        (*match.span(), word)
        for word in words
        for match in [re.search(rf"(?<!\w){re.escape(word)}(?!\w)", filling.text)]
        if match
    ]
    if len(spans) != 1:
        return []
    at_end = not re.search(r"\w", filling.text[spans[0][1] :])
    return spans if at_end or is_placed(filling, spans[0][0]) else []


def is_placed(filling: Filling, start: int) -> bool:
    """Whether a word like "in", or the name of a parameter, stands before."""
    before = filling.text[:start].lower().split()[-1:]
    labels = {word for name in filling.parts for word in plain(name).split("_")}
    return bool(before) and before[0] in {*labels, *filling.request.words("before_name")}
