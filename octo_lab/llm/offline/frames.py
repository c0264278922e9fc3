"""Turns questions about a DataFrame into code, looking first where a name is not certain."""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Sequence

from octo_lab.llm.offline.answers import answer
from octo_lab.llm.offline.features import plain
from octo_lab.llm.offline.guesses import guessed_columns, guessed_frame, guessed_group
from octo_lab.llm.offline.reading import Seen, listed_frames, seen_frame, told, which_column
from octo_lab.llm.offline.slots import Request, rare_words
from octo_lab.llm.offline.steps import Call, Result, Step, result_of, say, sorry

_OF_COLUMN = {
    "mean": "mean()",
    "sum": "sum()",
    "max": "max()",
    "min": "min()",
    "median": "median()",
    "std": "std()",
    "value_counts": "value_counts()",
    "unique": "unique()",
}
_OF_FRAME = {
    "shape": "{frame}.shape",
    "rows": "len({frame})",
    "columns": "list({frame}.columns)",
    "dtypes": "{frame}.dtypes",
    "head": "{frame}.head({count})",
    "tail": "{frame}.tail({count})",
    "missing": "{part}.isna().sum()",
    "describe": "{part}.describe()",
}
_OF_OTHERS = {
    "rows": "len({name})",
    "shape": "len({name})",
    "max": "max({name})",
    "min": "min({name})",
    "sum": "sum({name})",
    "mean": "sum({name}) / len({name})",
    "head": "list({name})[:{count}]",
    "tail": "list({name})[-{count}:]",
    "unique": "set({name})",
}
_OPTIONAL_COLUMN = ("missing", "describe")
_GROUPED = ("mean", "sum", "max", "min", "median", "std")
_FRAME_NAME = re.compile(r"(?i)(^|_)df\d*($|_)|frame")
_VARIABLE = re.compile(r"^(\w+): ", re.MULTILINE)


def frame_step(request: Request, done: tuple[Result, ...], tools: Collection[str]) -> Step:
    """The next call or the answer for a question of the family ``frame``."""
    if computed := result_of(done, "python"):
        return answer(request, computed)
    inspected = result_of(done, "inspect")
    if inspected and not inspected.failed:
        return _from_columns(request, inspected)
    if listed := result_of(done, "list_variables"):
        return _from_list(request, listed, tools)
    if items := request.marked("item"):
        return _code(request, items[0].value, [items[0].column])
    return _look(request, inspected, tools)


def _look(request: Request, inspected: Result | None, tools: Collection[str]) -> Step:
    """Look at the DataFrame before it is computed with, where there is a tool for that."""
    name = _certain(request)
    if name is None and "list_variables" not in tools:
        name = guessed_frame(request)
    if inspected is None and name and "inspect" in tools:
        return Call(tool="inspect", arguments={"name": name})
    if "list_variables" in tools:
        return Call(tool="list_variables")
    if inspected is not None:
        return answer(request, inspected)
    return _unseen(request, name)


def _unseen(request: Request, frame: str | None) -> Step:
    """Code from the words alone: a name that is wrong gives Python's own error."""
    if frame is None:
        return say(request, "which_variable")
    group = guessed_group(request, frame) if _operation(request) in _GROUPED else None
    columns = [name for name in guessed_columns(request, frame) if name != group]
    if not columns and _operation(request) in _OF_COLUMN:
        return say(request, "follow_what")
    if not group:
        return _code(request, frame, columns)
    return _python(_grouped_code(frame, group, columns[0], _operation(request)))


def _certain(request: Request) -> str | None:
    """A marked name, or a word that only a DataFrame is called; others are looked up first."""
    marked = [mark.value for mark in request.marked("name")]
    attached = [name for name in request.attached if name.isidentifier()]
    looks = [word for word in rare_words(request) if _FRAME_NAME.search(word)]
    return next(iter([*marked[-1:], *attached, *looks]), None)


def _from_list(request: Request, listed: Result, tools: Collection[str]) -> Step:
    if listed.failed:
        return answer(request, listed)
    frames = listed_frames(listed.text)
    named = named_variables(request, listed.text)
    fitting = [name for name in named if name in frames] or named or list(frames)
    if len(fitting) == 1:
        return _found(request, fitting[0], frames.get(fitting[0]), tools)
    if not frames:
        return say(request, "no_frame")
    if rare_words(request) and not named:
        return sorry(request)  # it names something, and that is no variable
    return say(request, "which_frame", names=", ".join(f"`{frame}`" for frame in frames))


def _found(request: Request, name: str, seen: Seen | None, tools: Collection[str]) -> Step:
    """The one variable meant: what the list says of it may do, else it is inspected."""
    known = told(request, seen, (), 0) if seen and _is_meant(request, name) else None
    if known:
        return known
    if "inspect" in tools:
        return Call(tool="inspect", arguments={"name": name})
    return _unseen(request, name)


def _is_meant(request: Request, name: str) -> bool:
    """Whether the request names it, or nothing else."""
    return bool(named_variables(request, f"{name}: ")) or not rare_words(request)


def named_variables(request: Request, listed: str) -> list[str]:
    """The variables in the list that the request names."""
    words = set(re.findall(r"(?a:[a-z_]\w*)", plain(request.text)))
    return [name for name in _VARIABLE.findall(listed) if plain(name) in words]


def _from_columns(request: Request, inspected: Result) -> Step:
    name = str(inspected.call.arguments["name"])
    seen = seen_frame(name, inspected.text)
    if seen is None:
        return _plain_code(request, name)
    columns = meant_columns(request, name, [column for column, _ in seen.columns])
    is_named = _certain(request) or named_variables(request, f"{name}: ")
    if not columns and not is_named and _operation(request) in _OF_COLUMN:
        return sorry(request)  # the only DataFrame there is, but not what was asked about
    if not columns and _operation(request) in _OF_COLUMN:
        return which_column(request, seen)
    return told(request, seen, columns, _count(request)) or _code(request, name, columns)


def _plain_code(request: Request, name: str) -> Step:
    template = _OF_OTHERS.get(_operation(request))
    if template is None:
        return say(request, "no_frame")
    return _python(template.format(name=name, count=_count(request)))


def meant_columns(request: Request, frame: str, known: Sequence[str]) -> list[str]:
    """The ``known`` columns that the request names, in the request's order."""
    text = plain(request.text).replace("_", " ")
    at: dict[str, int] = {}
    for column in known:
        word = re.escape(plain(column).replace("_", " "))
        match = re.search(rf"(?<![a-z0-9]){word}(?:e?s|n|en)?(?![a-z0-9])", text)
        if match and plain(column) != plain(frame):
            at[column] = match.start()
    return sorted(at, key=lambda column: (at[column], -len(column)))


def _code(request: Request, frame: str, columns: list[str]) -> Step:
    operation = _operation(request)
    if operation in _OF_FRAME:
        part = frame
        if operation in _OPTIONAL_COLUMN and columns:
            part = f"{frame}[{_quote(columns[0])}]"
        template = _OF_FRAME[operation]
        return _python(template.format(frame=frame, part=part, count=_count(request)))
    return _python(_column_code(request, frame, columns))


def _column_code(request: Request, frame: str, columns: list[str]) -> str:
    operation = _operation(request)
    group = _group(request, columns) if operation in _GROUPED else None
    if group is None:
        return f"{frame}[{_quote(columns[0])}].{_OF_COLUMN[operation]}"
    value = next(column for column in columns if column != group)
    return _grouped_code(frame, group, value, operation)


def _grouped_code(frame: str, group: str, value: str, operation: str) -> str:
    return f"{frame}.groupby({_quote(group)})[{_quote(value)}].{_OF_COLUMN[operation]}"


def _group(request: Request, columns: list[str]) -> str | None:
    """The column that stands after a word like "per", when another is left to compute on."""
    text = plain(request.text).replace("_", " ")
    for column in columns if len(columns) > 1 else ():
        name = re.escape(plain(column).replace("_", " "))
        for word in request.words("group"):
            gap = r"\W{0,2}(?:the |el |la |le |der |die |das )?\W?"
            if re.search(rf"(?<![a-z]){re.escape(plain(word))}{gap}{name}", text):
                return column
    return None


def _operation(request: Request) -> str:
    return request.intent.partition(".")[2]


def _count(request: Request) -> int:
    numbers = request.marked("number")
    return min(int(numbers[0].value[:6]), 1000) if numbers else 5


def _quote(column: str) -> str:
    return json.dumps(column, ensure_ascii=False)


def _python(code: str) -> Call:
    return Call(tool="python", arguments={"code": code})
