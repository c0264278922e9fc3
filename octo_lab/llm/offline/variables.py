"""Turns questions about variables into calls, by whichever tool there is to look."""

from __future__ import annotations

from collections.abc import Collection

from octo_lab.llm.offline.answers import answer
from octo_lab.llm.offline.frames import named_variables
from octo_lab.llm.offline.slots import Request, names
from octo_lab.llm.offline.steps import Call, Result, Step, sorry


def variable_step(request: Request, tools: Collection[str]) -> Step | None:
    """The first call for a question about variables; None for any other question."""
    if request.intent == "list_variables":
        return _listing(tools)
    return _inspect(request, tools) if request.intent == "inspect_variable" else None


def _inspect(request: Request, tools: Collection[str]) -> Step:
    """A marked name is certain; any other word is looked up before it is taken for a name."""
    marked = [mark.value for mark in request.marked("name", "item")]
    certain = marked or [name for name in request.attached if name.isidentifier()]
    likely = names(request, "name")
    if certain or (likely and "list_variables" not in tools):
        return _shown([*certain, *likely][0], tools)
    return Call(tool="list_variables") if likely else sorry(request)


def named_variable_step(request: Request, listed: Result, tools: Collection[str]) -> Step:
    """Look at the variable that the request names, now that the names are known."""
    if listed.failed:
        return answer(request, listed)
    named = named_variables(request, listed.text)
    likely = [name for name in names(request, "name") if name in named] or named
    return _shown(likely[0], tools) if likely else sorry(request)


def _listing(tools: Collection[str]) -> Call:
    is_asked_of_python = "list_variables" not in tools and "python" in tools
    return _python("%whos") if is_asked_of_python else Call(tool="list_variables")


def _shown(name: str, tools: Collection[str]) -> Call:
    if "inspect" not in tools and "python" in tools:
        return _python(name)
    return Call(tool="inspect", arguments={"name": name})


def _python(code: str) -> Call:
    return Call(tool="python", arguments={"code": code})
