"""Finds what a vendor says is wrong, in any of the shapes that vendors say it in."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

Json = Mapping[str, Any]

_MESSAGES = ("message", "detail", "msg", "status_msg", "error_msg", "error_description", "title")
_CODES = ("code", "type", "param", "status", "error_type", "reason", "innererror", "failed_field")
# MiniMax numbers its errors beside status 200; these are what they would be in HTTP.
_MINIMAX = {1001: 408, 1002: 429, 1004: 401, 1008: 402, 1013: 500, 1039: 429, 2013: 400, 2049: 401}
_WAIT = re.compile(
    r"(?:try again|retry)(?: again)? (?:in|after) ((?:\d{1,9}(?:\.\d{1,9})?\s?[a-z]{1,12}\s?){1,4})"
)
_PART = re.compile(r"(\d+(?:\.\d+)?)\s?(ms|milli|h|m|s)")
_UNITS = {"ms": 0.001, "milli": 0.001, "s": 1.0, "m": 60.0, "h": 3600.0}
_POLITE = 1.0  # seconds more than a text says, for it is rounded


@dataclass(frozen=True, slots=True, kw_only=True)
class Complaint:
    """What a vendor says is wrong.

    ``words`` is all of it in lower case, to classify by; ``status`` is what it would be in HTTP,
    0 when it does not say; ``wait`` the seconds it wants to be left alone.
    """

    message: str = ""
    words: str = ""
    status: int = 0
    wait: float | None = None


def read_complaint(body: object) -> Complaint:
    """A body of another shape gives an empty complaint."""
    error = _error_part(body)
    if isinstance(error, str):
        return Complaint(message=error, words=error.lower(), wait=_told_wait(error.lower()))
    if not isinstance(error, Mapping):
        return Complaint()
    message = _message(error)
    details = error.get("details") or error.get("metadata") or ""
    codes = (error.get(name) for name in _CODES)
    parts = [*(str(code) for code in codes if code), message]
    words = " ".join([*parts, json.dumps(details) if details else ""]).strip().lower()
    return Complaint(message=message, words=words, status=_status(error), wait=_wait(error, words))


def _error_part(body: object) -> object:
    if isinstance(body, list) and body:
        body = body[0]
    if not isinstance(body, Mapping):
        return None
    if error := body.get("error"):
        return error
    if base := body.get("base_resp"):
        return base
    if isinstance(body.get("errors"), list) and body["errors"]:
        return body["errors"][0]
    return body if any(name in body for name in (*_MESSAGES, "code")) else None


def _message(error: Json) -> str:
    said = next((error[name] for name in _MESSAGES if error.get(name)), "")
    message = said if isinstance(said, str) else json.dumps(said, ensure_ascii=False)
    inner = _passed_on(error.get("metadata"))
    return f"{message}: {inner}" if inner and message else message or inner


def _passed_on(metadata: object) -> str:
    """What the vendor behind a router said."""
    raw = metadata.get("raw") if isinstance(metadata, Mapping) else None
    if not isinstance(raw, str):
        return ""
    try:
        inner = json.loads(raw)
    except (ValueError, RecursionError):
        return raw
    error = _error_part(inner)
    if isinstance(error, Mapping):
        said = next((error[name] for name in _MESSAGES if error.get(name)), "")
        return said if isinstance(said, str) else ""
    return error if isinstance(error, str) else ""


def _status(error: Json) -> int:
    number = error.get("status_code")
    if type(number) is int and number in _MINIMAX:
        return _MINIMAX[number]
    for name in ("code", "status", "status_code"):
        text = str(error.get(name))
        if text.isascii() and text.isdigit() and 400 <= int(text[:9]) <= 599:
            return int(text)
    return 0


def _wait(error: Json, words: str) -> float | None:
    """Gemini's ``retryDelay``, else what the text says."""
    details = error.get("details")
    for detail in details if isinstance(details, Sequence) else ():
        delay = detail.get("retryDelay") if isinstance(detail, Mapping) else None
        if isinstance(delay, str) and (seconds := sum(_durations(delay))):
            return seconds
    return _told_wait(words)


def _told_wait(words: str) -> float | None:
    found = _WAIT.search(words)
    seconds = list(_durations(found[1])) if found else []
    return sum(seconds) + _POLITE if seconds else None


def _durations(text: str) -> Iterator[float]:
    for number, unit in _PART.findall(text):
        yield float(number) * _UNITS[unit]
