"""Checks an answer that must be JSON of a certain shape, and asks once for a better one."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from octo_lab.core.messages import Message
from octo_lab.llm.structured import Unfit, fits_schema, json_in

_SHOWN = 20_000


def unfit(text: str, schema: Mapping[str, Any] | None) -> str:
    """What is wrong with an answer, '' when it fits; raises UsageError for a bad schema."""
    if schema is None:
        return ""
    check = fits_schema(schema or {"type": "object"})
    try:
        check(json_in(text))
    except Unfit as exc:
        return str(exc)
    return ""


def repair(text: str, problem: str) -> list[Message]:
    """What is added to the request for a better answer."""
    nudge = (
        f"Your answer is not the JSON that was asked for: {problem}. Give the whole answer again, "
        "as JSON that fits the schema, and nothing else."
    )
    said = [Message(role="assistant", content=text[:_SHOWN])] if text.strip() else []
    return [*said, Message(role="user", content=nudge)]
