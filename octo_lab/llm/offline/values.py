"""Reads a piece of a request as a value of a parameter's type."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any

from octo_lab.llm.offline.features import plain

NUMBER = re.compile(r"(?<![\w.,-])-?\d+(?:[.,]\d+)*(?![\w-]*\w)")
_TRUTH = {"true": True, "yes": True, "on": True, "false": False, "no": False, "off": False}


def read_value(text: str, part: Mapping[str, Any]) -> Any:
    """The text as a value of the parameter's type; None if it is none."""
    text = text.strip("\"'")
    kind = part.get("type")
    if kind in ("integer", "number"):
        value = read_number(text) if NUMBER.fullmatch(text) else None
        return None if kind == "integer" and isinstance(value, float) else value
    if kind == "boolean":
        return _TRUTH.get(text.lower())
    if kind != "string":
        return None
    allowed = part.get("enum")
    if allowed is None:
        return text.rstrip(".?!")
    return next((one for one in allowed if plain(one) == plain(text)), None)


def read_number(text: str) -> int | float:
    """1,234 is a thousand and more, 3,5 is three and a half."""
    if re.fullmatch(r"-?\d{1,3}(,\d{3})+(\.\d+)?", text):
        text = text.replace(",", "")
    value: int | float = json.loads(re.sub(r"^(-?)0+(?=\d)", r"\1", text.replace(",", ".")))
    return value
