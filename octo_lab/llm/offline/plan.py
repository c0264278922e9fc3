"""Decides the next step of a turn: which tool with which arguments, or what to say."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection
from dataclasses import dataclass
from typing import Any

from octo_lab.llm.offline.answers import answer
from octo_lab.llm.offline.features import plain
from octo_lab.llm.offline.frames import frame_step, named_variables
from octo_lab.llm.offline.intents import family
from octo_lab.llm.offline.slots import Request, aligned, bare_folders, names, rare_words, tidy
from octo_lab.llm.offline.steps import Call, Result, Step, say, sorry
from octo_lab.llm.offline.understanding import Understanding

# What the shipped pages are asked with: they are in English, the request may not be.
TOPICS = {
    "overview": "what is octo_lab",
    "magics": "magics and options",
    "sessions": "sessions and slash commands",
    "tools": "tools and approvals",
    "connect": "connect a model",
    "config": "config and data folder",
    "headless": "headless gateway papermill",
    "panel": "chat panel",
    "terminal": "terminal octo run chat",
    "cassettes": "cassettes record replay",
    "offline": "offline model",
    "troubleshooting": "troubleshooting",
}
_SPECIAL = re.compile(r"[\\.^$*+?{}\[\]()|]")
_HIT = re.compile(r"^([^:\n]+):\d+:", re.MULTILINE)


@dataclass(frozen=True, slots=True, kw_only=True)
class Planner:
    """Plans one step at a time from the request and the results so far; keeps nothing."""

    understanding: Understanding

    def next(self, text: str, done: tuple[Result, ...], tools: Collection[str]) -> Step:
        """The next step. A tool that is not among ``tools`` is never called."""
        request = self.understanding.read(text)
        if not request.text:
            return say(request, "empty")
        step = self._step(request, done)
        if isinstance(step, Call) and step.tool not in tools:
            return say(request, "missing_tool", tool=step.tool)
        return step

    def _step(self, request: Request, done: tuple[Result, ...]) -> Step:
        kind = family(request.intent)
        if kind == "frame":
            return frame_step(request, done)
        if done:
            return _after(request, done)
        if kind == "get_time":
            zone = self.understanding.zone(request)
            return Call(tool="get_time", arguments={"timezone": zone} if zone else {})
        return _FIRST.get(kind, sorry)(request)


def _after(request: Request, done: tuple[Result, ...]) -> Step:
    """A file found by what it mentions is read; anything else is the answer."""
    last = done[-1]
    looked_up = request.intent == "read_file" and last.call.tool == "grep" and not last.failed
    if looked_up and (hit := _HIT.search(last.text)):
        return Call(tool="read_file", arguments={"path": hit[1]})
    if request.intent == "inspect_variable" and last.call.tool == "list_variables":
        return _inspect_named(request, last)
    return answer(request, last)


def _list_dir(request: Request) -> Step:
    return Call(tool="list_dir", arguments=_folder(request))


def _folder(request: Request) -> dict[str, str]:
    """The folder a request names, as arguments; the whole workspace needs none."""
    paths = [mark.value for mark in request.marked("path", "quote", "name")]
    known = [*paths, *bare_folders(request)]
    return {"path": known[0].removeprefix("./").rstrip("/") or "."} if known else {}


def _read_file(request: Request) -> Step:
    paths = [mark.value for mark in request.marked("path")]
    paths = paths or [name for name in request.attached if "." in name or "/" in name]
    if not paths:
        return _read_what_mentions(request)
    path = paths[0]
    if path.endswith("/") or not re.search(r"\.\w|^[A-Z]\w+$", path):
        return Call(tool="list_dir", arguments={"path": path.rstrip("/") or "/"})
    return Call(tool="read_file", arguments={"path": path, **_lines(request)})


def _read_what_mentions(request: Request) -> Step:
    pattern = _pattern(request)
    if pattern is None or len(pattern.split()) > 3:
        return say(request, "which_file")
    return Call(tool="grep", arguments=_expression(pattern))


def _lines(request: Request) -> dict[str, int]:
    """The lines asked for. The last ones are not counted here: the file is read and then cut."""
    numbers = [int(mark.value[:9]) for mark in request.marked("number")][:2]
    text = plain(request.text)
    if not numbers or any(plain(word) in text for word in request.words("last")):
        return {}
    if len(numbers) == 2 and 0 < numbers[0] <= numbers[1]:
        return {"start_line": numbers[0], "end_line": numbers[1]}
    return {"start_line": 1, "end_line": numbers[0]} if numbers[0] else {}


def _grep(request: Request) -> Step:
    pattern = _pattern(request)
    if pattern is None:
        return say(request, "which_pattern")
    where = {key: value for key, value in _where(request).items() if value != pattern}
    return Call(tool="grep", arguments={**_expression(pattern), **where})


def _expression(pattern: str) -> dict[str, Any]:
    """The text as a regular expression that means just it; capitals matter only if it has some."""
    escaped = _SPECIAL.sub(r"\\\g<0>", pattern)
    return {"pattern": escaped, **({"ignore_case": True} if pattern == pattern.lower() else {})}


def _pattern(request: Request) -> str | None:
    marked = request.marked("quote", "name", "code", "item")
    if marked:
        first = marked[0]
        return f"{first.value}.{first.column}" if first.column else first.value
    placed = [_only_pattern(_inside(value, request)[0], request) for value in _patterns(request)]
    fitting = [value for value in placed if value]
    best = sorted(fitting, key=lambda value: _doubt(value, request))
    return next(iter([*best, *rare_words(request)]), None)


def _doubt(value: str, request: Request) -> tuple[bool, int]:
    """How much of the candidate are words that people use round what they search for."""
    words = re.findall(r"\w+", value)
    rare = rare_words(request)
    return not any(word in rare for word in words), sum(word not in rare for word in words)


def _patterns(request: Request) -> list[str]:
    return aligned(request, "pattern")


def _inside(value: str, request: Request) -> tuple[str, str]:
    """``needle in folder`` is a text and a place; a text alone has no place."""
    for word in request.words("inside"):
        gap = r"\s+" if word.isascii() else r"\s*"
        if match := re.fullmatch(rf"(.+?){gap}{re.escape(word)}{gap}(.+)", value, re.IGNORECASE):
            return tidy(match[1], request), tidy(match[2], request)
    return value, ""


def _only_pattern(value: str, request: Request) -> str | None:
    """The candidate, unless it is just the place to search in."""
    places = [mark.value for mark in request.marked("path", "glob")]
    return None if any(place in value or value in place for place in places) else value


def _where(request: Request) -> dict[str, str]:
    """Path or file pattern of a search."""
    if globs := request.marked("glob"):
        folder, _, pattern = globs[0].value.rpartition("/")
        return {"file_pattern": pattern, **({"path": folder} if folder else {})}
    if paths := request.marked("path"):
        return {"path": paths[0].value.rstrip("/")}
    rare = rare_words(request)
    places = [_inside(value, request)[1] for value in _patterns(request)]
    for word in [*aligned(request, "dir"), *places]:
        if word in rare:
            return {"path": word}
    return {}


def _compute(request: Request) -> Step:
    marks = request.marked("math", "code", "item", "name")
    if not marks:
        return say(request, "which_code")
    first = marks[0]
    code = f"{first.value}[{first.column!r}]" if first.column else first.value
    return Call(tool="python", arguments={"code": code})


def _inspect(request: Request) -> Step:
    """A marked name is certain; any other word is looked up before it is taken for a name."""
    marked = [mark.value for mark in request.marked("name", "item")]
    certain = marked or [name for name in request.attached if name.isidentifier()]
    if certain:
        return Call(tool="inspect_variable", arguments={"name": certain[0]})
    return Call(tool="list_variables") if names(request, "name") else sorry(request)


def _inspect_named(request: Request, listed: Result) -> Step:
    if listed.failed:
        return answer(request, listed)
    named = named_variables(request, listed.text)
    likely = [name for name in names(request, "name") if name in named] or named
    if likely:
        return Call(tool="inspect_variable", arguments={"name": likely[0]})
    return sorry(request)


def _docs(request: Request) -> Step:
    topic = TOPICS[request.intent.partition(".")[2]]
    return Call(tool="octo_docs", arguments={"query": topic})


_FIRST: dict[str, Callable[[Request], Step]] = {
    "list_dir": _list_dir,
    "read_file": _read_file,
    "grep": _grep,
    "compute": _compute,
    "inspect_variable": _inspect,
    "docs": _docs,
    "list_variables": lambda request: Call(tool="list_variables"),
    "octo_status": lambda request: Call(tool="octo_status"),
    "hello": lambda request: say(request, "hello"),
    "thanks": lambda request: say(request, "thanks"),
}
