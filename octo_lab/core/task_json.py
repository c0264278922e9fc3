"""Tasks and the messages about them as JSON: a status by its ``state``, the rest by ``type``."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from datetime import datetime
from pathlib import Path
from types import NoneType, UnionType
from typing import Any, Union, get_args, get_origin, get_type_hints

from octo_lab.core.errors import UsageError
from octo_lab.core.messages import Message
from octo_lab.core.tasks import AgentMessage, Task, TaskKind, TaskResult, TaskStatus

_TAGS = {TaskStatus: "state", TaskKind: "type", AgentMessage: "type"}
_HUMP = re.compile(r"(?<!^)(?=[A-Z])")
_SAID = ("role", "content", "tool_calls", "tool_call_id")


def task_json(task: Task) -> dict[str, Any]:
    """A task as plain JSON values."""
    return _fields(task)


def read_task(value: object) -> Task:
    """The task that ``task_json`` wrote; raises UsageError naming what does not fit."""
    task: Task = _read(Task, value, "task")
    return task


def message_json(message: AgentMessage) -> dict[str, Any]:
    """A message between agents as plain JSON values."""
    return {"type": _word(type(message)), **_fields(message)}


def result_json(result: TaskResult) -> dict[str, Any]:
    """What came of a task as plain JSON values."""
    return _fields(result)


def read_message(value: object) -> AgentMessage:
    """The message that ``message_json`` wrote; raises UsageError naming what does not fit."""
    message: AgentMessage = _read(AgentMessage, value, "message")
    return message


def _word(kind: type) -> str:
    return _HUMP.sub("_", kind.__name__).lower()


def _tag(kind: type) -> str:
    return next((tag for union, tag in _TAGS.items() if kind in get_args(union)), "")


def _fields(value: Any) -> dict[str, Any]:
    return {each.name: _plain(getattr(value, each.name)) for each in fields(value)}


def _plain(value: Any) -> Any:
    match value:
        case Message():
            return {name: _plain(getattr(value, name)) for name in _SAID}
        case datetime():
            return value.isoformat()
        case Path():
            return str(value)
        case tuple():
            return [_plain(each) for each in value]
        case Mapping():
            return dict(value)
    if is_dataclass(value):
        tag = _tag(type(value))
        return ({tag: _word(type(value))} if tag else {}) | _fields(value)
    return value


def _read(kind: Any, value: Any, where: str) -> Any:
    if get_origin(kind) in (Union, UnionType):
        return _read_union(kind, value, where)
    if get_origin(kind) is tuple:
        each = get_args(kind)[0]
        items = enumerate(_checked(list, value, where))
        return tuple(_read(each, item, f"{where}[{number}]") for number, item in items)
    if get_origin(kind) is not None or kind is Any:  # a mapping or a word
        return value
    if is_dataclass(kind):
        return _read_fields(kind, _checked(dict, value, where), where)
    if kind is Path:
        return Path(_checked(str, value, where))
    if kind is datetime:
        return _time(_checked(str, value, where), where)
    return _checked(kind, value, where)


def _read_union(kind: Any, value: Any, where: str) -> Any:
    kinds = [each for each in get_args(kind) if each is not NoneType]
    if value is None and len(kinds) < len(get_args(kind)):
        return None
    if len(kinds) == 1:
        return _read(kinds[0], value, where)
    values = dict(_checked(dict, value, where))
    tag = _tag(kinds[0])
    word = values.pop(tag, None)
    named = next((each for each in kinds if _word(each) == word), None)
    if named is None:
        raise UsageError(f"{where}.{tag} is {word!r}", hint=_known(kinds))
    return _read_fields(named, values, where)


def _read_fields(kind: Any, values: Mapping[str, Any], where: str) -> Any:
    hints = get_type_hints(kind)
    unknown = sorted(set(values) - set(hints))
    if unknown:
        raise UsageError(f"{where} has no field {unknown[0]!r}")
    read = {name: _read(hints[name], item, f"{where}.{name}") for name, item in values.items()}
    try:
        return kind(**read)
    except TypeError:
        missing = sorted(set(hints) - set(values))
        raise UsageError(
            f"{where} lacks a field", hint=f"not given: {', '.join(missing)}"
        ) from None


def _checked(kind: type, value: Any, where: str) -> Any:
    if not isinstance(value, kind) or (kind is int and isinstance(value, bool)):
        raise UsageError(f"{where} is {type(value).__name__}, not {kind.__name__}")
    return value


def _time(text: str, where: str) -> datetime:
    try:
        return datetime.fromisoformat(text)
    except ValueError:
        raise UsageError(
            f"{where} is no time: {text[:50]!r}", hint="write it as ISO 8601"
        ) from None


def _known(kinds: list[type]) -> str:
    return f"one of: {', '.join(map(_word, kinds))}"
