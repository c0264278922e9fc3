"""Reads the JSON that clients send: anything may come."""

from __future__ import annotations

import json

from octo_lab.core.errors import UsageError
from octo_lab.core.frames import Json
from octo_lab.core.text import clean


def read_object(data: str | bytes, *, what: str, hint: str) -> Json:
    """One JSON object, its text fit for UTF-8; raises UsageError about ``what``."""
    try:
        text = data if isinstance(data, str) else data.decode()
        value = json.loads(text)
        if "\\u" in text:  # may be half a character, which no socket and no database takes
            value = json.loads(clean(json.dumps(value, ensure_ascii=False)))
    except (ValueError, RecursionError):
        value = None
    if not isinstance(value, dict):
        raise UsageError(f"{what} is no JSON object", hint=hint)
    return value
