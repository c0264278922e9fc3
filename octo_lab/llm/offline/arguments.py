"""Fills the parameters of a person's own tool from the words of a request, guessing none."""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from octo_lab.core.messages import ToolSpec
from octo_lab.llm.offline.features import plain
from octo_lab.llm.offline.own import choices, resolved, tool_vocabulary
from octo_lab.llm.offline.slots import Request, rare_words

_NUMBER = re.compile(r"(?<![\w.,-])-?\d+(?:[.,]\d+)*(?![\w-]*\w)")
_SHAPES = {
    "date": re.compile(r"(?<!\d)\d{4}-\d{2}-\d{2}(?!\d)"),
    "date-time": re.compile(r"(?<!\d)\d{4}-\d{2}-\d{2}[T ]\d{2}:\d{2}\S*"),
    "time": re.compile(r"(?<!\d)\d{1,2}:\d{2}(?::\d{2})?(?!\d)"),
    "email": re.compile(r"[\w.+-]+@[\w-]+\.[\w.-]*\w"),
    "uri": re.compile(r"https?://\S+"),
}
_LOW = r"\d_a-zß-öø-ÿ\u2e80-\u9fff"
_PROPER = re.compile(rf"(?<![\w@`\"'])[^\W{_LOW}][\w'’.-]*\w(?: [^\W{_LOW}][\w'’-]+)*")
_TAIL = re.compile(r":\s+(\S.*)$", re.DOTALL)
_FROM = ("from", "source", "start", "origin", "begin", "old")
_TO = ("to", "target", "end", "destination", "goal", "new")


@dataclass(frozen=True, slots=True, kw_only=True)
class Filled:
    """Arguments found; ``missing`` are the required ones that the request does not hold."""

    arguments: Mapping[str, Any]
    missing: tuple[str, ...]


@dataclass(slots=True, kw_only=True)
class _Filling:
    """What is left of the request while arguments are taken out of it; blanks keep places."""

    request: Request
    tool: ToolSpec
    text: str
    found: dict[str, Any] = field(default_factory=dict)

    @property
    def parts(self) -> Mapping[str, Any]:
        schema = self.tool.schema
        return {name: resolved(part, schema) for name, part in schema["properties"].items()}

    @property
    def required(self) -> list[str]:
        return list(self.tool.schema.get("required", ()))

    def open(self, *kinds: str) -> list[str]:
        """Required parameters of these types that have no value yet."""
        return [
            name
            for name in self.required
            if name not in self.found and self.parts[name].get("type") in kinds
        ]

    def take(self, name: str, value: Any, start: int, end: int) -> None:
        self.found[name] = value
        self.text = _blanked(self.text, start, end)


def _blanked(text: str, start: int, end: int) -> str:
    return text[:start] + " " * (end - start) + text[end:]


def fill(request: Request, tool: ToolSpec) -> Filled:
    """Take what is certain first: ``name=value``, choices, numbers, then texts."""
    filling = _Filling(request=request, tool=tool, text=request.text)
    for step in (_written, _chosen, _shaped, _numbers, _texts):
        step(filling)
    missing = tuple(name for name in filling.required if name not in filling.found)
    return Filled(arguments=filling.found, missing=missing)


def _written(filling: _Filling) -> None:
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
        value = _read(match[1] or match[2], part)
        if value is not None:
            filling.take(name, value, *match.span())


def _chosen(filling: _Filling) -> None:
    """Values of a short list, in the order of the parameters that take them."""
    for name in _from_to_last(filling.parts):
        options = choices(filling.parts[name], filling.tool.schema)
        if not options or name in filling.found:
            continue
        spans = list(_spans(options, filling.text))
        if spans:
            start, end, value = _cued(name, filling.text, spans)
            filling.take(name, value, start, end)


def _spans(options: Collection[str], text: str) -> Iterator[tuple[int, int, str]]:
    found = []
    for option in options:
        word = re.escape(option).replace("_", "[_ ]").replace(r"\ ", r"\s+")
        pattern = rf"(?<!\w){word}(?:s|es)?(?!\w)" if option.isascii() else word
        found += [(*m.span(), option) for m in re.finditer(pattern, text, re.IGNORECASE)]
    yield from sorted(found)


def _shaped(filling: _Filling) -> None:
    """Dates, times, addresses: told by their form."""
    for name, part in filling.parts.items():
        shape = part.get("format") or next((key for key in _SHAPES if key in name.lower()), "")
        pattern = _SHAPES.get(shape)
        is_open = name not in filling.found and part.get("type") == "string"
        if pattern and is_open and (match := pattern.search(filling.text)):
            filling.take(name, match[0], *match.span())


def _numbers(filling: _Filling) -> None:
    for name, part in filling.parts.items():  # "3 days" is the parameter days
        if name not in filling.found and part.get("type") in ("integer", "number"):
            _beside(filling, name, part)
    for name in filling.open("integer", "number"):
        for match in _NUMBER.finditer(filling.text):
            value = _read(match[0], filling.parts[name])
            if value is not None:
                filling.take(name, value, *match.span())
                break
    for name in filling.open("array"):
        if filling.parts[name].get("items", {}).get("type") in ("integer", "number"):
            found = [_number(match[0]) for match in _NUMBER.finditer(filling.text)]
            if found:
                filling.found[name] = found


def _beside(filling: _Filling, name: str, part: Mapping[str, Any]) -> None:
    word = re.escape(name.replace("_", " ")).rstrip("s")
    number = rf"({_NUMBER.pattern})"
    beside = rf"{number}[\s-]*(?:\w+\s+)?{word}\w*|(?<!\w){word}\w*\s+(?:of\s+|is\s+)?{number}"
    if match := re.search(beside, filling.text, re.IGNORECASE):
        group = 1 if match[1] else 2
        value = _read(match[group], part)
        if value is not None:
            filling.take(name, value, *match.span(group))


def _texts(filling: _Filling) -> None:
    names = filling.open("string")
    spans = _candidates(filling, len(names))
    if filling.open("array") and not names:
        name = filling.open("array")[0]
        filling.found |= {name: [value for *_, value in spans]} if spans else {}
        return
    if len(spans) > len(names):
        spans = [span for span in spans if _is_placed(filling, span[0])] or spans
    if not spans or (len(spans) != len(names) and len(spans) > len(names)):
        return
    for name in _from_to_last(names):
        if spans:
            chosen = _cued(name, filling.text, spans)
            spans = [span for span in spans if span != chosen]
            filling.found[name] = chosen[2]


def _candidates(filling: _Filling, wanted: int) -> list[tuple[int, int, str]]:
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


def _proper(filling: _Filling) -> list[tuple[int, int, str]]:
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


def _is_ordinary(word: str, filling: _Filling) -> bool:
    low = plain(word)
    known = tool_vocabulary(filling.tool)
    return low in known or low.rstrip("s") in known or low in filling.request.ordinary


def _odd(filling: _Filling) -> list[tuple[int, int, str]]:
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
    return spans if at_end or _is_placed(filling, spans[0][0]) else []


def _is_placed(filling: _Filling, start: int) -> bool:
    """Whether a word like "in" or "for" stands before."""
    words = filling.request.words
    before = filling.text[:start].lower().split()[-1:]
    return bool(before) and before[0] in set(words("before_name"))


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


def _cued(name: str, text: str, spans: list[tuple[int, int, str]]) -> tuple[int, int, str]:
    """The candidate after a word for the parameter, like "from"; else the first."""
    cues = {*_cue(name), *plain(name).split("_")}
    for span in spans:
        before = re.findall(r"[^\W\d_]+", text[: span[0]].lower())[-1:]
        if before and before[0] in cues:
            return span
    return spans[-1] if _cue(name) and _cue(name)[0] == "to" else spans[0]


def _read(text: str, part: Mapping[str, Any]) -> Any:
    """The text as a value of the parameter's type; None if it is none."""
    text = text.strip("\"'")
    kind = part.get("type")
    if kind in ("integer", "number"):
        value = _number(text) if _NUMBER.fullmatch(text) else None
        return None if kind == "integer" and isinstance(value, float) else value
    if kind == "boolean":
        return {
            "true": True,
            "yes": True,
            "on": True,
            "false": False,
            "no": False,
            "off": False,
        }.get(text.lower())
    if kind != "string":
        return None
    allowed = part.get("enum")
    if allowed is None:
        return text.rstrip(".?!")
    return next((one for one in allowed if plain(one) == plain(text)), None)


def _number(text: str) -> int | float:
    """1,234 is a thousand and more, 3,5 is three and a half."""
    if re.fullmatch(r"-?\d{1,3}(,\d{3})+(\.\d+)?", text):
        text = text.replace(",", "")
    value: int | float = json.loads(re.sub(r"^(-?)0+(?=\d)", r"\1", text.replace(",", ".")))
    return value


def example(tool: ToolSpec, missing: Collection[str]) -> str:
    """How the missing arguments can be written: ``city="…"``."""
    schema = tool.schema
    return " ".join(
        f"{name}={_sample(resolved(schema['properties'][name], schema))}" for name in missing
    )


def _sample(part: Mapping[str, Any]) -> str:
    if options := part.get("enum"):
        return str(options[0])
    return {"string": '"…"', "boolean": "true"}.get(str(part.get("type")), "3")
