"""Reads tool calls that a weak model wrote into its text instead of making them."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from octo_lab.core.messages import ToolCall, ToolSpec

_MARKS = ("<tool_call>", "<tool_calls>", "<function_call>", "<function_calls>", "<invoke ")
_MARK = re.compile("|".join(map(re.escape, _MARKS)))
_LONGEST = max(map(len, _MARKS))
_GOES_ON = re.compile(r"</(?:tool_calls?|function_calls?|invoke)>\s*[^<\s]")
_WRAPPER = re.compile(r"\s*</?(?:tool_calls|function_calls)>\s*")
_JSON_CALL = re.compile(r"\s*<(tool_call|function_call)>\s*")
_JSON_END = re.compile(r"\s*(?:</(?:tool_call|function_call)>\s*|\Z)")
_INVOKE = re.compile(r"\s*<invoke name=\"([^\"]{1,64})\"\s*>(.*?)</invoke>\s*", re.DOTALL)
_PARAMETER = re.compile(
    r"\s*<parameter name=\"([^\"]{1,64})\"[^>]{0,80}>(.*?)</parameter>\s*", re.DOTALL
)
_TRIES = 8
_DECODER = json.JSONDecoder()


@dataclass(frozen=True, slots=True)
class Recovered:
    """The text before the calls, and the calls, which have no ids."""

    text: str
    calls: tuple[ToolCall, ...]


def recover_calls(text: str, tools: Mapping[str, ToolSpec]) -> Recovered | None:
    """The calls that are the whole end of ``text``, if each names one of ``tools``."""
    if not tools:
        return None
    for number, mark in enumerate(_MARK.finditer(text)):
        if number == _TRIES:
            break
        calls = _read(text, mark.start(), tools)
        if calls:
            return Recovered(text[: mark.start()].rstrip(), tuple(calls))
    return None


def _read(text: str, place: int, tools: Mapping[str, ToolSpec]) -> list[ToolCall]:
    """All calls from ``place`` to the end; none when anything else stands there."""
    calls: list[ToolCall] = []
    while place < len(text):
        if wrapper := _WRAPPER.match(text, place):
            place = wrapper.end()
            continue
        found = _json_call(text, place) or _invoked(text, place, tools)
        if found is None or found[0].name not in tools:
            return []
        calls.append(found[0])
        place = found[1]
    return calls


def _json_call(text: str, place: int) -> tuple[ToolCall, int] | None:
    begun = _JSON_CALL.match(text, place)
    if begun is None:
        return None
    try:
        value, end = _DECODER.raw_decode(text, begun.end())
    except (ValueError, RecursionError):
        return None
    ended = _JSON_END.match(text, end)
    if ended is None or not isinstance(value, dict):
        return None
    name, arguments = value.get("name"), value.get("arguments", value.get("parameters", {}))
    if not isinstance(name, str) or not isinstance(arguments, dict | str):
        return None
    written = arguments if isinstance(arguments, str) else _dumped(arguments)
    return ToolCall(id="", name=name, arguments=written), ended.end()


def _invoked(text: str, place: int, tools: Mapping[str, ToolSpec]) -> tuple[ToolCall, int] | None:
    found = _INVOKE.match(text, place)
    if found is None or found[1] not in tools:
        return None
    properties = tools[found[1]].schema.get("properties", {})
    arguments: dict[str, Any] = {}
    inner, at = found[2], 0
    while at < len(inner):
        parameter = _PARAMETER.match(inner, at)
        if parameter is None:
            return (_call(found[1], arguments), found.end()) if not inner[at:].strip() else None
        arguments[parameter[1]] = _value(parameter[2], properties.get(parameter[1], {}))
        at = parameter.end()
    return _call(found[1], arguments), found.end()


def _value(written: str, schema: Any) -> Any:
    """A string where the tool takes one, else what the JSON says."""
    if isinstance(schema, Mapping) and schema.get("type") == "string":
        return written
    try:
        return json.loads(written)
    except (ValueError, RecursionError):
        return written


def _call(name: str, arguments: dict[str, Any]) -> ToolCall:
    return ToolCall(id="", name=name, arguments=_dumped(arguments))


def _dumped(arguments: dict[str, Any]) -> str:
    return json.dumps(arguments, ensure_ascii=False)


class TailGate:
    """Holds back what may turn out to be a call, so that nobody is shown one as text."""

    def __init__(self) -> None:
        self._held: list[str] = []
        self._holding = False
        self._recent = ""

    def feed(self, text: str) -> str:
        """What of the text so far can be shown."""
        if self._holding:
            return self._hold(text)
        if self._held:
            text = self._held.pop() + text
        elif "<" not in text:
            return text
        mark = _MARK.search(text)
        if mark is None:
            return self._edge(text)
        self._holding = True
        return text[: mark.start()] + self._hold(text[mark.start() :])

    def end(self) -> str:
        """What is still held back."""
        held, self._held, self._holding, self._recent = "".join(self._held), [], False, ""
        return held

    def _hold(self, text: str) -> str:
        self._held.append(text)
        self._recent = (self._recent + text)[-(len(text) + 2 * _LONGEST) :]
        return self.end() if _GOES_ON.search(self._recent) else ""

    def _edge(self, text: str) -> str:
        """Hold back the beginning of a mark at the very end."""
        at = text.rfind("<")
        tail = text[at:]
        if at >= 0 and any(mark.startswith(tail) for mark in _MARKS):
            self._held.append(tail)
            return text[:at]
        return text


class HoldAll:
    """Holds back a whole answer: it is shown when it is known to be what was asked for."""

    def __init__(self) -> None:
        self._held: list[str] = []

    def feed(self, text: str) -> str:
        self._held.append(text)
        return ""

    def end(self) -> str:
        held, self._held = "".join(self._held), []
        return held
