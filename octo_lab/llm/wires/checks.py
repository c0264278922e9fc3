"""What the strict validators of the dialects share."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Problem:
    """Why a request is refused, in the vendor's manner; ``param`` is where."""

    message: str
    param: str


class Refused(Exception):
    def __init__(self, message: str, param: str) -> None:
        super().__init__(message)
        self.problem = Problem(message, param)


def require(fits: bool, message: str, param: str) -> None:
    if not fits:
        raise Refused(message, param)


def only(value: Mapping[str, Any], names: frozenset[str] | set[str], where: str) -> None:
    for name in value:
        require(name in names, f"Unknown parameter: '{where}.{name}'.", f"{where}.{name}")


def an_object(value: object, where: str) -> Mapping[str, Any]:
    if not isinstance(value, Mapping):
        raise Refused(f"Invalid type for '{where}': expected an object.", where)
    return value


def an_array(value: object, where: str) -> Sequence[Any]:
    if not isinstance(value, list):
        raise Refused(f"Invalid type for '{where}': expected an array.", where)
    return value


def a_text(value: object, where: str) -> str:
    if not isinstance(value, str) or not value.strip():
        raise Refused(f"Invalid '{where}': expected a text that is not empty.", where)
    return value


def a_name(value: object, where: str) -> None:
    name = a_text(value, where)
    plain = name.replace("_", "a").replace("-", "a")
    require(
        plain.isascii() and plain.isalnum() and len(name) <= 64,
        f"Invalid '{where}': does not match '^[a-zA-Z0-9_-]{{1,64}}$'.",
        where,
    )
