"""Reads a model's answer as JSON, and says what does not fit."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Mapping
from typing import Any, NoReturn, TypeVar

from pydantic import TypeAdapter, ValidationError

from octo_lab.core.errors import UsageError
from octo_lab.core.text import first_line

T = TypeVar("T")
Check = Callable[[Any], T]
PROBLEMS = 8
_FENCED = re.compile(r"```[\w+-]*[ \t]*\n(.*?)\n?[ \t]*```", re.DOTALL)
_START = re.compile(r"[{\[]")


class Unfit(ValueError):
    """An answer is no JSON, or not the JSON that was asked for; its text lists why."""


def json_in(text: str) -> Any:
    """The JSON of an answer: all of it, a fenced block of it, or the object it begins somewhere.

    Raises Unfit.
    """
    fenced = _FENCED.search(text)
    for candidate in (text, fenced.group(1) if fenced else ""):
        if candidate.strip():
            try:
                return _DECODER.decode(candidate)
            except (ValueError, RecursionError) as exc:
                problem = exc
    start = _START.search(text)
    if start is None:
        raise Unfit("the answer holds no JSON")
    try:
        return _DECODER.raw_decode(text, start.start())[0]
    except (ValueError, RecursionError):
        raise Unfit(f"the answer is no JSON: {first_line(str(problem))}") from None


def _no_number(word: str) -> NoReturn:
    raise ValueError(f"{word} is no JSON")


def _finite(word: str) -> float:
    value = float(word)
    return value if math.isfinite(value) else _no_number(word)


_DECODER = json.JSONDecoder(parse_constant=_no_number, parse_float=_finite)


def fits_schema(schema: Mapping[str, Any]) -> Check[Any]:
    """A check against a JSON Schema, which raises Unfit; raises UsageError for a bad schema."""
    from jsonschema.exceptions import SchemaError  # type: ignore[import-untyped]
    from jsonschema.validators import (  # type: ignore[import-untyped]
        Draft202012Validator,
        validator_for,
    )
    from referencing import Registry
    from referencing.exceptions import Unresolvable

    kind = validator_for(schema, default=Draft202012Validator)
    try:
        kind.check_schema(schema)
    except SchemaError as exc:
        raise UsageError(
            f"This is no JSON Schema: {first_line(exc.message)}", hint="see json-schema.org"
        ) from None
    errors = kind(schema, registry=Registry()).iter_errors  # what it refers to is not fetched

    def check(value: Any) -> Any:
        try:
            found = sorted(f"{e.json_path}: {first_line(e.message, 200)}" for e in errors(value))
        except Unresolvable as exc:
            raise UsageError(
                f"The schema refers to {exc.ref!r}, which is not in it", hint="put it into $defs"
            ) from None
        if found:
            raise _unfit(found)
        return value

    return check


def fits_type(wanted: type[T]) -> Check[T]:
    """A check that makes an instance of a pydantic model; raises Unfit."""
    adapter = TypeAdapter(wanted)

    def check(value: Any) -> T:
        try:
            return adapter.validate_json(json.dumps(value))
        except ValidationError as exc:
            problems = exc.errors(include_url=False, include_context=False, include_input=False)
            raise _unfit(
                [f"{_place(found['loc'])}: {found['msg']}" for found in problems]
            ) from None

    return check


def _place(steps: tuple[int | str, ...]) -> str:
    return "$" + "".join(f"[{step}]" if isinstance(step, int) else f".{step}" for step in steps)


def _unfit(problems: list[str]) -> Unfit:
    more = len(problems) - PROBLEMS
    shown = [*problems[:PROBLEMS], *([f"and {more} more"] if more > 0 else [])]
    return Unfit("; ".join(shown))
