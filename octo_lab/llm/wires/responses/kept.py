"""Items that go back to the vendor as they came: thinking is only accepted in its company."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from octo_lab.core.messages import Message, ProviderState

Item = Mapping[str, Any]
_KNOWN = ("reasoning", "message", "function_call")


def kept_items(items: Sequence[Item]) -> str:
    """What must come back verbatim, as JSON; '' when nothing has to, or cannot.

    Thinking without its encrypted text is known only to a vendor who stored it, and phases are
    marks that the vendor wants to see again.
    """
    thinking = [item for item in items if item.get("type") == "reasoning"]
    if not all(item.get("encrypted_content") for item in thinking):
        return ""
    if not all(item.get("type") in _KNOWN for item in items):
        return ""
    worth = bool(thinking) or any(item.get("phase") for item in items)
    return json.dumps(items, ensure_ascii=False, separators=(",", ":")) if worth else ""


class Kept:
    """Gives items back to the provider and model they are of, in one request each of them once."""

    def __init__(self, provider: str, model: str) -> None:
        self._owner = (provider, model)
        self._given: set[str] = set()

    def items(self, message: Message) -> list[dict[str, Any]]:
        """The items that a message came as; none when it was changed since, or is another's."""
        state = message.provider_state
        if state is None or (state.provider, state.model) != self._owner:
            return []
        try:
            items = self._fitting(message, state)
        except (ValueError, TypeError, KeyError, AttributeError):  # rows of another version
            return []
        self._given.update(item["id"] for item in items)
        return items

    def _fitting(self, message: Message, state: ProviderState) -> list[dict[str, Any]]:
        items: list[dict[str, Any]] = json.loads(state.blob)
        fits = _told_by(items) == _told(message) and items[-1]["type"] != "reasoning"
        return items if fits and not any(item["id"] in self._given for item in items) else []


def _told_by(items: Sequence[Item]) -> tuple[str, list[tuple[str, str]]]:
    """What of a message the items hold: text without white space, and the calls."""
    texts = (
        part["text"]
        for item in items
        if item["type"] == "message"
        for part in item["content"]
        if part["type"] == "output_text"
    )
    calls = [(i["call_id"], i["arguments"]) for i in items if i["type"] == "function_call"]
    return "".join("".join(texts).split()), calls


def _told(message: Message) -> tuple[str, list[tuple[str, str]]]:
    calls = [(call.id, call.arguments) for call in message.tool_calls]
    return "".join(message.content.split()), calls
