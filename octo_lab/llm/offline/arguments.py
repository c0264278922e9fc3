"""Fills the parameters of a person's own tool from the words of a request, guessing none."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from octo_lab.core.messages import ToolSpec
from octo_lab.llm.offline.candidates import Filling, Span, candidates, is_placed
from octo_lab.llm.offline.features import plain
from octo_lab.llm.offline.own import choices, resolved
from octo_lab.llm.offline.slots import Request
from octo_lab.llm.offline.values import NUMBER, read_number, read_value

_SHAPES = {
    "date": re.compile(r"(?<!\d)\d{4}-\d{2}-\d{2}(?!\d)"),
    "date-time": re.compile(r"(?<!\d)\d{4}-\d{2}-\d{2}[T ]\d{2}:\d{2}\S*"),
    "time": re.compile(r"(?<!\d)\d{1,2}:\d{2}(?::\d{2})?(?!\d)"),
    "email": re.compile(r"[\w.+-]+@[\w-]+\.[\w.-]*\w"),
    "uri": re.compile(r"https?://\S+"),
}
_FORMED = {"to": "email", "recipient": "email", "mail": "email", "url": "uri", "link": "uri"}
_FROM = ("from", "source", "start", "origin", "begin", "old")
_TO = ("to", "target", "end", "destination", "goal", "new")


@dataclass(frozen=True, slots=True, kw_only=True)
class Filled:
    """Arguments found; ``missing`` are the required ones that the request does not hold."""

    arguments: Mapping[str, Any]
    missing: tuple[str, ...]


def fill(request: Request, tool: ToolSpec) -> Filled:
    """Take what is certain first: ``name=value``, choices, numbers, then texts."""
    filling = Filling(request=request, tool=tool, text=request.text)
    for step in (_written, _chosen, _shaped, _numbers, _texts):
        step(filling)
    missing = tuple(name for name in filling.required if name not in filling.found)
    return Filled(arguments=filling.found, missing=missing)


def _written(filling: Filling) -> None:
    """``city=Bonn``, ``days: 3``, ``city "New York"``."""
    for name, part in filling.parts.items():
        label = re.escape(name).replace("_", "[_ ]")
        match = re.search(
            rf"(?<!\w){label}(?:\s*[=:]\s*(\"[^\"]*\"|'[^']*'|[^\s,;]+)|\s+(\"[^\"]+\"))",
            filling.text,
            re.IGNORECASE,
        )
        if not match:
            continue
        value = read_value(match[1] or match[2], part)
        if value is not None:
            filling.take(name, value, *match.span())


def _chosen(filling: Filling) -> None:
    """Values of a short list, in the order of the parameters that take them."""
    for name in _from_to_last(filling.parts):
        options = choices(filling.parts[name], filling.tool.schema)
        if not options or name in filling.found:
            continue
        spans = list(_spans(options, filling.text))
        if spans:
            start, end, value = _cued(name, filling.text, spans)
            filling.take(name, value, start, end)


def _spans(options: Collection[str], text: str) -> Iterator[Span]:
    found = []
    for option in options:
        word = re.escape(option).replace("_", "[_ ]").replace(r"\ ", r"\s+")
        pattern = rf"(?<!\w){word}(?:s|es)?(?!\w)" if option.isascii() else word
        found += [(*m.span(), option) for m in re.finditer(pattern, text, re.IGNORECASE)]
    yield from sorted(found)


def _shaped(filling: Filling) -> None:
    """Dates, times, addresses: told by their form."""
    for name, part in filling.parts.items():
        named = {_FORMED.get(word, word) for word in plain(name).split("_")}
        shape = part.get("format") or next(iter(named & _SHAPES.keys()), "")
        pattern = _SHAPES.get(shape)
        is_open = name not in filling.found and part.get("type") == "string"
        if pattern and is_open and (match := pattern.search(filling.text)):
            filling.take(name, match[0], *match.span())


def _numbers(filling: Filling) -> None:
    for name, part in filling.parts.items():  # "3 days" is the parameter days
        if name not in filling.found and part.get("type") in ("integer", "number"):
            _beside(filling, name, part)
    for name in filling.open("integer", "number"):
        for match in NUMBER.finditer(filling.text):
            value = read_value(match[0], filling.parts[name])
            if value is not None:
                filling.take(name, value, *match.span())
                break
    for name in filling.open("array"):
        if filling.parts[name].get("items", {}).get("type") in ("integer", "number"):
            found = [read_number(match[0]) for match in NUMBER.finditer(filling.text)]
            if found:
                filling.found[name] = found


def _beside(filling: Filling, name: str, part: Mapping[str, Any]) -> None:
    word = re.escape(name.replace("_", " ")).rstrip("s")
    number = rf"({NUMBER.pattern})"
    beside = rf"{number}[\s-]*(?:\w+\s+)?{word}\w*|(?<!\w){word}\w*\s+(?:of\s+|is\s+)?{number}"
    if match := re.search(beside, filling.text, re.IGNORECASE):
        group = 1 if match[1] else 2
        value = read_value(match[group], part)
        if value is not None:
            filling.take(name, value, *match.span(group))


def _texts(filling: Filling) -> None:
    names = [name for name in filling.open("string") if _is_free(filling.parts[name])]
    spans = candidates(filling, len(names))
    lists = [name for name in filling.open("array") if _holds_texts(filling.parts[name])]
    if lists and not names:
        filling.found |= {lists[0]: [value for *_, value in spans]} if spans else {}
        return
    if len(spans) > len(names):
        spans = [span for span in spans if is_placed(filling, span[0])] or spans
    if len(spans) > len(names):
        return
    for name in _from_to_last(names):
        if spans:
            chosen = _cued(name, filling.text, spans)
            spans = [span for span in spans if span != chosen]
            filling.found[name] = chosen[2]


def _holds_texts(part: Mapping[str, Any]) -> bool:
    return bool(part.get("items", {}).get("type", "string") == "string")


def _is_free(part: Mapping[str, Any]) -> bool:
    """Whether any text will do."""
    return part.get("format") not in _SHAPES and "enum" not in part and "const" not in part


def _from_to_last(names: Collection[str] | Mapping[str, Any]) -> list[str]:
    """The names in their order, but those with a cue first: their values are more certain."""
    return sorted(names, key=lambda name: not _cue(name))


def _cue(name: str) -> tuple[str, ...]:
    parts = plain(name).split("_")
    if any(part in _FROM for part in parts):
        return ("from", "between", "von", "zwischen", "de", "desde", "entre", "du")
    if any(part in _TO for part in parts):
        return (
            "to",
            "into",
            "and",
            "in",
            "nach",
            "und",
            "zu",
            "a",
            "hasta",
            "à",
            "vers",
            "et",
            "y",
        )
    return ()


def _cued(name: str, text: str, spans: list[Span]) -> Span:
    """The candidate after a word for the parameter, like "from"; else the first."""
    cues = {*_cue(name), *plain(name).split("_")}
    for span in spans:
        before = re.findall(r"[^\W\d_]+", text[: span[0]].lower())[-1:]
        if before and before[0] in cues:
            return span
    return spans[-1] if _cue(name) and _cue(name)[0] == "to" else spans[0]


def example(tool: ToolSpec, missing: Collection[str]) -> str:
    """How the missing arguments can be written: ``city="…"``."""
    schema = tool.schema
    parts = schema.get("properties", {})
    return " ".join(f"{name}={_sample(resolved(parts.get(name, {}), schema))}" for name in missing)


def _sample(part: Mapping[str, Any]) -> str:
    if options := part.get("enum"):
        return str(options[0])
    return {"string": '"…"', "boolean": "true"}.get(str(part.get("type")), "3")
