"""Decides the next step of a turn: which tool with which arguments, or what to say."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection
from dataclasses import dataclass
from typing import Any

from octo_lab.llm.offline.answers import BUILT_IN, answer
from octo_lab.llm.offline.features import plain
from octo_lab.llm.offline.followup import asked, before, follow_step, in_language
from octo_lab.llm.offline.frames import frame_step
from octo_lab.llm.offline.intents import family
from octo_lab.llm.offline.own_calls import own_step
from octo_lab.llm.offline.passages import docs_answer
from octo_lab.llm.offline.slots import Request, aligned, bare_folders, rare_words, tidy
from octo_lab.llm.offline.steps import Call, Reply, Result, Step, Turn, phrase, say, sorry
from octo_lab.llm.offline.understanding import Understanding
from octo_lab.llm.offline.variables import named_variable_step, variable_step

# What the shipped pages are asked with: they are in English, the request may not be.
TOPICS = {
    "overview": "what is octo_lab",
    "magics": "magics and options",
    "sessions": "sessions and slash commands",
    "tools": "tools and approvals",
    "files": "files and undo",
    "sandbox": "sandbox and command lines",
    "safety": "private data and strangers",
    "web": "web search fetch browser",
    "hooks": "hooks",
    "connect": "connect a model",
    "models": "fallbacks costs limits context",
    "providers": "write a provider",
    "config": "config and data folder",
    "headless": "headless gateway papermill",
    "panel": "chat panel",
    "terminal": "terminal octo run chat",
    "cassettes": "cassettes record replay",
    "offline": "offline model",
    "troubleshooting": "troubleshooting",
}
_QUERY = 200
_OF_KERNELS = ("python", "list_variables", "inspect")
_TOOLS_OF = {"frame": _OF_KERNELS, "compute": ("python",), "docs": ("octo_docs",)}
_SPECIAL = re.compile(r"[\\.^$*+?{}\[\]()|]")
_HIT = re.compile(r"^([^:\n]+):\d+:", re.MULTILINE)


@dataclass(frozen=True, slots=True, kw_only=True)
class Planner:
    """Plans one step at a time from the request and the results so far; keeps nothing."""

    understanding: Understanding

    def next(self, text: str, turn: Turn) -> Step:
        """The next step. A tool that is not among the turn's is never called."""
        request = self.understanding.read(text)
        if not request.text:
            return say(request, "empty")
        step = self._step(request, turn)
        if isinstance(step, Call) and step.tool not in turn.names:
            has_place = turn.has_kernel or step.tool not in _OF_KERNELS
            what = "missing_tool" if has_place else "no_kernel"
            return say(request, what, tool=step.tool)
        return step

    def _step(self, request: Request, turn: Turn) -> Step:
        follow = asked(request.text, self.understanding.languages)
        if follow and (last := before(turn.earlier)):
            return follow_step(request, follow, last, turn)
        if follow and follow.operation and follow.is_led:
            return say(in_language(request, follow.language), "follow_what")
        return self._own(request, turn) or self._built_in(request, turn)

    def _own(self, request: Request, turn: Turn) -> Step | None:
        """A call of a tool of the person's own, if the request is about one."""
        if turn.done and turn.done[-1].call.tool not in BUILT_IN:
            return answer(request, turn.done[-1])
        tools = [tool for tool in turn.tools if tool.name not in BUILT_IN]
        if turn.done or not tools:
            return None
        others = self.understanding.backing(request) if _is_offered(request, turn) else 0.0
        return own_step(request, self.understanding.own_fits(request, tools, others), others)

    def _built_in(self, request: Request, turn: Turn) -> Step:
        kind, done = family(request.intent), turn.done
        if kind == "frame":
            return frame_step(request, done, turn.names)
        if kind in ("hello", "thanks", "about"):
            ideas = "try_kernel" if "python" in turn.names else "try_files"
            return Reply(text=f"{phrase(request, kind)}\n\n{phrase(request, ideas)}")
        if done and done[-1].call.tool == "octo_docs" and not done[-1].failed:
            return docs_answer(request, done[-1], self.understanding.own)
        if done:
            return _after(request, done, turn.names)
        if kind == "get_time":
            zone = self.understanding.zone(request)
            return Call(tool="get_time", arguments={"timezone": zone} if zone else {})
        return variable_step(request, turn.names) or _FIRST.get(kind, sorry)(request)


def _is_offered(request: Request, turn: Turn) -> bool:
    """Whether the built-in tool that the request asks for can be called in this turn."""
    kind = family(request.intent)
    return kind in ("hello", "thanks", "about") or not turn.names.isdisjoint(
        _TOOLS_OF.get(kind, (kind,))
    )


def _after(request: Request, done: tuple[Result, ...], tools: Collection[str]) -> Step:
    """A file found by what it mentions is read; anything else is the answer."""
    last = done[-1]
    looked_up = request.intent == "read_file" and last.call.tool == "grep" and not last.failed
    if looked_up and (hit := _HIT.search(last.text)):
        return Call(tool="read_file", arguments={"path": hit[1]})
    if request.intent == "inspect_variable" and last.call.tool == "list_variables":
        return named_variable_step(request, last, tools)
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


def _docs(request: Request) -> Step:
    topic = TOPICS[request.intent.partition(".")[2]]
    asked_for = " ".join(request.text.split())[:_QUERY]
    return Call(tool="octo_docs", arguments={"query": f"{topic}: {asked_for}", "limit": 4})


_FIRST: dict[str, Callable[[Request], Step]] = {
    "list_dir": _list_dir,
    "read_file": _read_file,
    "grep": _grep,
    "compute": _compute,
    "docs": _docs,
    "octo_status": lambda request: Call(tool="octo_status"),
}
