"""Writes the answer from what a tool gave."""

from __future__ import annotations

import re

from octo_lab.llm.offline.slots import Request
from octo_lab.llm.offline.steps import Reply, Result, phrase

_LINES = 60
_WIDTH = 400
_NUMPY = re.compile(r"np\.(?:float|int|uint|bool|str)\w*\((.*)\)", re.DOTALL)


def answer(request: Request, result: Result) -> Reply:
    """The answer for the last call of a turn."""
    if result.failed:
        return Reply(text=_failure(request, result))
    return Reply(text=_WRITERS.get(result.call.tool, _own)(request, result))


def _failure(request: Request, result: Result) -> str:
    text = result.text.removeprefix("Error: ").strip()
    if result.outcome == "denied":
        return phrase(request, "denied", tool=result.call.tool)
    if "\n" not in text:
        return phrase(request, "failed", text=text)
    return f"{phrase(request, 'failed', text='')}\n\n{block(request, text, from_end=True)}".strip()


def _files(request: Request, result: Result) -> str:
    path = str(result.call.arguments.get("path", "."))
    place = request.language.say["workspace"] if path == "." else f"`{path}`"
    return f"{phrase(request, 'files', path=place)}\n\n{block(request, result.text)}"


def _file(request: Request, result: Result) -> str:
    text = result.text
    if last := _last_lines(request):
        text = "\n".join(text.rstrip("\n").splitlines()[-last:])
    title = phrase(request, "file", path=f"`{result.call.arguments['path']}`")
    return f"{title}\n\n{block(request, text)}"


def _last_lines(request: Request) -> int:
    """How many lines from the end were asked for, 0 if it was the start or all."""
    text = request.text.lower()
    numbers = request.marked("number")
    if not numbers or not any(word in text for word in request.words("last")):
        return 0
    return int(numbers[0].value)


def _hits(request: Request, result: Result) -> str:
    pattern = re.sub(r"\\(\W)", r"\1", str(result.call.arguments["pattern"]))
    if result.text.startswith("No match for "):
        return phrase(request, "no_hits", pattern=pattern)
    return f"{phrase(request, 'hits', pattern=pattern)}\n\n{block(request, result.text)}"


def _value(request: Request, result: Result) -> str:
    code = str(result.call.arguments["code"])
    text = _NUMPY.sub(r"\1", result.text.strip())
    if not text or text == "Done; no output.":
        return phrase(request, "done", code=_short(code))
    if "\n" in text or "\n" in code or len(text) > 200:
        return f"{phrase(request, 'block', code=_short(code))}\n\n{block(request, text)}"
    return phrase(request, "value", code=code, value=f"`{text}`")


def _variables(request: Request, result: Result) -> str:
    return f"{phrase(request, 'variables')}\n\n{block(request, result.text)}"


def _variable(request: Request, result: Result) -> str:
    title = phrase(request, "variable", name=result.call.arguments["name"])
    return f"{title}\n\n{block(request, result.text)}"


def _time(request: Request, result: Result) -> str:
    return phrase(request, "time", text=result.text.strip())


def _status(request: Request, result: Result) -> str:
    return f"{phrase(request, 'status')}\n\n{result.text.strip()}"


def _own(request: Request, result: Result) -> str:
    """What a tool of the person's own gave."""
    given = ", ".join(f"{key}={value!r}" for key, value in result.call.arguments.items())
    code, text = f"{result.call.tool}({given})", result.text.strip()
    if not text:
        return phrase(request, "done", code=code)
    if "\n" in text or "`" in text or len(text) > 200:
        return f"{phrase(request, 'block', code=code)}\n\n{block(request, text)}"
    said = phrase(request, "value", code=code, value=f"`{text}`")
    return said[:-1] if text.endswith(".") else said


_WRITERS = {
    "list_dir": _files,
    "read_file": _file,
    "grep": _hits,
    "python": _value,
    "list_variables": _variables,
    "inspect": _variable,
    "get_time": _time,
    "octo_status": _status,
}

BUILT_IN = frozenset([*_WRITERS, "octo_docs"])


def _short(code: str) -> str:
    first, _, rest = code.partition("\n")
    return f"{first} …" if rest else first


def block(request: Request, text: str, *, from_end: bool = False) -> str:
    """The text as a fenced block, so that nothing in it is read as Markdown; long ones are cut."""
    lines = [_cut(line) for line in text.strip("\n").splitlines()]
    shown = lines[-_LINES:] if from_end else lines[:_LINES]
    fence = "`" * max([3, *(len(run) + 1 for run in re.findall(r"`+", text))])
    left = len(lines) - len(shown)
    more = f"\n\n{phrase(request, 'more', count=left)}" if left else ""
    return "\n".join([f"{fence}text", *shown, fence]) + more


def _cut(line: str) -> str:
    return line if len(line) <= _WIDTH else line[: _WIDTH - 1] + "…"
