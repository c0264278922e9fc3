"""Reads a function's parameters: an argument model from type hints and docstring."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Annotated, Any, get_type_hints

import docstring_parser
from pydantic import BaseModel, ConfigDict, Field, PydanticUserError, create_model

from octo_lab.core.errors import UsageError
from octo_lab.tools.schema import object_schema
from octo_lab.tools.tool import ToolContext

_ARBITRARY = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)


@dataclass(frozen=True, slots=True, kw_only=True)
class Signature:
    """A function as a tool sees it.

    ``args`` has one field per parameter, called ``p0``, ``p1``… with the parameter's name as
    alias, so that no name can clash with pydantic's own. ``context`` is the parameter that takes
    the ToolContext, if there is one; ``function`` the one that carries the type hints.
    """

    function: Callable[..., Any]
    description: str
    args: type[BaseModel]
    names: tuple[str, ...]
    positional: int
    context: str

    def bind(self, values: BaseModel, ctx: ToolContext) -> tuple[list[Any], dict[str, Any]]:
        """The positional and keyword arguments of a call; defaults are left to Python."""
        given = {
            name: getattr(values, f"p{index}")
            for index, name in enumerate(self.names)
            if f"p{index}" in values.model_fields_set
        }
        if self.context:
            given[self.context] = ctx
        first = [given.pop(name) for name in self.names[: self.positional] if name in given]
        return first, given


def read_signature(function: Callable[..., Any], name: str) -> Signature:
    """Read a function; raises UsageError naming the parameter a model cannot fill."""
    bare = _bare(function)
    doc = _docstring(bare)
    hints = _hints(bare, name)
    parameters = list(inspect.signature(function).parameters.values())
    context = next((p.name for p in parameters if hints.get(p.name) is ToolContext), "")
    taken = [p for p in parameters if p.name != context]
    return Signature(
        function=bare,
        description=doc.text or name.replace("_", " "),
        args=_model(name, taken, [_hint(p, hints, doc.told) for p in taken]),
        names=tuple(p.name for p in taken),
        positional=sum(p.kind is inspect.Parameter.POSITIONAL_ONLY for p in taken),
        context=context,
    )


def _bare(function: Callable[..., Any]) -> Callable[..., Any]:
    """The def behind a partial, a wrapper, a method or an object with ``__call__``."""
    while isinstance(function, partial):
        function = function.func
    function = inspect.unwrap(function)
    if inspect.isroutine(function):
        return function
    return type(function).__call__


@dataclass(frozen=True, slots=True)
class _Doc:
    text: str
    told: Mapping[str, str]


def _docstring(function: Callable[..., Any]) -> _Doc:
    raw = inspect.getdoc(function) or ""
    try:
        doc = docstring_parser.parse(raw)
    except docstring_parser.ParseError:
        return _Doc(raw, {})
    told = {param.arg_name.lstrip("*"): param.description or "" for param in doc.params}
    return _Doc(_composed(doc) if told else raw, told)


def _composed(doc: docstring_parser.Docstring) -> str:
    """The docstring without its parameters, which the schema describes."""
    parts = [doc.short_description, doc.long_description]
    if doc.returns is not None and doc.returns.description:
        parts.append(f"Returns: {doc.returns.description}")
    return "\n\n".join(part.strip() for part in parts if part)


def _hints(function: Callable[..., Any], name: str) -> dict[str, Any]:
    try:
        return get_type_hints(function, include_extras=True)
    except (NameError, TypeError, SyntaxError, AttributeError) as exc:
        raise UsageError(
            f"The type hints of {name!r} cannot be read: {exc}",
            hint="define or import what they name before the function",
        ) from None


def _hint(parameter: inspect.Parameter, hints: Mapping[str, Any], told: Mapping[str, str]) -> Any:
    """The parameter's type with its description; a default of None makes it optional."""
    hint = hints.get(parameter.name, Any)
    words = [m for m in getattr(hint, "__metadata__", ()) if isinstance(m, str)]
    if parameter.default is None and hint is not Any:
        hint = hint | None
    description = told.get(parameter.name) or (words[0] if words else "")
    return Annotated[hint, Field(description=description)] if description else hint


def _model(name: str, taken: list[inspect.Parameter], hints: list[Any]) -> type[BaseModel]:
    fields: dict[str, Any] = {}
    for index, (parameter, hint) in enumerate(zip(taken, hints, strict=True)):
        field = {f"p{index}": (hint, _field(parameter, name))}
        _check(name, parameter, field)
        fields |= field
    return _create(name, fields)


def _field(parameter: inspect.Parameter, tool: str) -> Any:
    if parameter.kind in _ARBITRARY:
        star = "*" if parameter.kind is inspect.Parameter.VAR_POSITIONAL else "**"
        raise UsageError(
            f"The tool {tool!r} takes {star}{parameter.name}, which a model cannot fill",
            hint="name each parameter, or take one list or dict",
        )
    if parameter.default is inspect.Parameter.empty:
        return Field(alias=parameter.name)
    return Field(parameter.default, alias=parameter.name)


def _check(name: str, parameter: inspect.Parameter, field: dict[str, Any]) -> None:
    try:
        object_schema(_create(name, field))
    except (PydanticUserError, TypeError):
        hint = parameter.annotation
        shown = hint if isinstance(hint, str) else getattr(hint, "__name__", repr(hint))
        raise UsageError(
            f"A model cannot fill {parameter.name!r} of the tool {name!r}: "
            f"{shown} has no JSON form",
            hint="use str, int, float, bool, list, dict, Literal, a dataclass or a pydantic model",
        ) from None


def _create(name: str, fields: dict[str, Any]) -> type[BaseModel]:
    return create_model(name, __config__=ConfigDict(extra="forbid"), **fields)
