"""What a function gave, as text a model can read: bounded before it is built."""

from __future__ import annotations

import json
import reprlib
from collections.abc import Mapping
from dataclasses import asdict, is_dataclass
from typing import Any

from pydantic import BaseModel

from octo_lab.tools.tool import ToolResult

_ROWS = 50
_REPR = 20_000


def as_result(value: object) -> ToolResult:
    """Text as it is, data as JSON, tables as their head, ``None`` as a word."""
    match value:
        case ToolResult():
            return value
        case None:
            return ToolResult(text="Done; it returned nothing.")
        case str():
            return ToolResult(text=value)
        case bytes():
            return ToolResult(text=f"{len(value)} bytes: {value[:200]!r}")
    return ToolResult(text=_table(value) or _json(value) or _short(value))


def _table(value: Any) -> str:
    """A table or column of pandas, polars or alike: its shape and its first rows."""
    head, shape = getattr(value, "head", None), getattr(value, "shape", None)
    if not callable(head) or not isinstance(shape, tuple):
        return ""
    first = head(_ROWS)
    text = first.to_string() if callable(getattr(first, "to_string", None)) else str(first)
    rows = int(shape[0])
    left = f"\n… {rows - _ROWS} more rows" if rows > _ROWS else ""
    return f"{type(value).__name__} of shape {' x '.join(map(str, shape))}:\n{text}{left}"


def _json(value: Any) -> str:
    if isinstance(value, BaseModel):
        return value.model_dump_json()
    if is_dataclass(value) and not isinstance(value, type):
        value = asdict(value)
    if not isinstance(value, (Mapping, list, tuple, bool, int, float)):
        return ""
    try:
        return json.dumps(value, ensure_ascii=False, default=_short)
    except (TypeError, ValueError, RecursionError):
        return _short(value)


def _short(value: object) -> str:
    """A bounded repr that survives objects whose own ``__repr__`` fails."""
    maker = reprlib.Repr()
    maker.maxother = maker.maxstring = maker.maxlong = _REPR
    maker.maxlist = maker.maxdict = maker.maxtuple = maker.maxset = 1000
    return maker.repr(value)
