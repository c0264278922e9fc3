"""Turns questions about a DataFrame into code, looking first where a name is not certain."""

from __future__ import annotations

import json
import re

from octo_lab.llm.offline.answers import answer
from octo_lab.llm.offline.features import plain
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
_COLUMNS = re.compile(r"columns and dtypes:\n(.*?)(?:\nmissing values:|\Z)", re.DOTALL)
_COLUMN = re.compile(r"^  (.+): \S", re.MULTILINE)
_FRAME_NAME = re.compile(r"(?i)(^|_)df\d*($|_)|frame")
_VARIABLE = re.compile(r"^(\w+): ", re.MULTILINE)
_FRAME = re.compile(r"^(\w+): DataFrame\b", re.MULTILINE)


def frame_step(request: Request, done: tuple[Result, ...]) -> Step:
    """The next call or the answer for a question of the family ``frame``."""
    if computed := result_of(done, "python"):
        return answer(request, computed)
    inspected = result_of(done, "inspect_variable")
    if inspected and not inspected.failed:
        return _from_columns(request, inspected)
    if listed := result_of(done, "list_variables"):
        return _from_list(request, listed)
    if items := request.marked("item"):
        return _code(request, items[0].value, [items[0].column])
    if inspected is None and (name := _certain(request)):
        return Call(tool="inspect_variable", arguments={"name": name})
    return Call(tool="list_variables")


def _certain(request: Request) -> str | None:
    """A marked name, or a word that only a DataFrame is called; others are looked up first."""
    marked = [mark.value for mark in request.marked("name")]
    attached = [name for name in request.attached if name.isidentifier()]
    looks = [word for word in rare_words(request) if _FRAME_NAME.search(word)]
    return next(iter([*marked[-1:], *attached, *looks]), None)


def _from_list(request: Request, listed: Result) -> Step:
    if listed.failed:
        return answer(request, listed)
    frames = [match[1] for match in _FRAME.finditer(listed.text)]
    named = named_variables(request, listed.text)
    fitting = [name for name in named if name in frames] or named or frames
    if len(fitting) == 1:
        return Call(tool="inspect_variable", arguments={"name": fitting[0]})
    if not frames:
        return say(request, "no_frame")
    if rare_words(request) and not named:
        return sorry(request)  # it names something, and that is no variable
    return say(request, "which_frame", names=", ".join(f"`{frame}`" for frame in frames))


def named_variables(request: Request, listed: str) -> list[str]:
    """The variables in the list that the request names."""
    words = set(re.findall(r"(?a:[a-z_]\w*)", plain(request.text)))
    return [name for name in _VARIABLE.findall(listed) if plain(name) in words]


def _from_columns(request: Request, inspected: Result) -> Step:
    name = str(inspected.call.arguments["name"])
    if "DataFrame" not in inspected.text:
        return _plain_code(request, name)
    columns = meant_columns(request, name, inspected.text)
    is_named = _certain(request) or named_variables(request, f"{name}: ")
    if not columns and not is_named and _operation(request) in _OF_COLUMN:
        return sorry(request)  # the only DataFrame there is, but not what was asked about
    return _code(request, name, columns)


def _plain_code(request: Request, name: str) -> Step:
    template = _OF_OTHERS.get(_operation(request))
    if template is None:
        return say(request, "no_frame")
    return _python(template.format(name=name, count=_count(request)))


def meant_columns(request: Request, frame: str, shown: str) -> list[str]:
    """The columns in ``shown`` that the request names, in the request's order."""
    text = plain(request.text).replace("_", " ")
    at: dict[str, int] = {}
    for column in _columns(shown):
        word = re.escape(plain(column).replace("_", " "))
        match = re.search(rf"(?<![a-z0-9]){word}(?:e?s|n|en)?(?![a-z0-9])", text)
        if match and plain(column) != plain(frame):
            at[column] = match.start()
    return sorted(at, key=lambda column: (at[column], -len(column)))


def _columns(shown: str) -> list[str]:
    """The columns in the description that ``inspect_variable`` gives of a DataFrame."""
    listed = _COLUMNS.search(shown)
    return _COLUMN.findall(listed[1]) if listed else []


def _code(request: Request, frame: str, columns: list[str]) -> Step:
    operation = _operation(request)
    if operation in _OF_FRAME:
        part = frame
        if operation in _OPTIONAL_COLUMN and columns:
            part = f"{frame}[{_quote(columns[0])}]"
        template = _OF_FRAME[operation]
        return _python(template.format(frame=frame, part=part, count=_count(request)))
    if not columns:
        return say(request, "which_column", frame=frame)
    return _python(_column_code(request, frame, columns))


def _column_code(request: Request, frame: str, columns: list[str]) -> str:
    operation = _operation(request)
    group = _group(request, columns) if operation in _GROUPED else None
    if group is None:
        return f"{frame}[{_quote(columns[0])}].{_OF_COLUMN[operation]}"
    value = next(column for column in columns if column != group)
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
