"""How many tokens a text is, about, and how many a model takes."""

from __future__ import annotations

from octo_lab.core.messages import Message
from octo_lab.llm.metering.catalog import CATALOG, Catalog

DEFAULT_WINDOW = 128_000
_WINDOWS = (
    ("claude-3", 200_000),
    ("claude-sonnet-4", 200_000),
    ("claude-opus-4", 200_000),
    ("claude-haiku-4", 200_000),
    ("gpt-4o", 128_000),
    ("gpt-4-turbo", 128_000),
    ("o1", 200_000),
    ("o3", 200_000),
    ("o4", 200_000),
    ("gemini-2.0", 1_000_000),
    ("gemini-1.5", 1_000_000),
)
_OVERHEAD = 4


def estimate_tokens(text: str) -> int:
    """Four ASCII characters a token, three other ones two tokens; rounded down, at least 1."""
    # Encoding is ten times as fast as a look at each character.
    plain = len(text) if text.isascii() else len(text.encode("ascii", "ignore"))
    return max(1, (3 * plain + 8 * (len(text) - plain)) // 12)


def message_tokens(message: Message) -> int:
    """A message with its tool calls and what surrounds it on the wire."""
    calls = "".join(call.name + call.arguments for call in message.tool_calls)
    return estimate_tokens(message.content + calls) + _OVERHEAD


def context_window(model: str, catalog: Catalog = CATALOG) -> int:
    """The window of a model: that of the catalogue, else as its name tells."""
    known = catalog.find(model)
    if known and known.context_window:
        return known.context_window
    name = model.lower().rpartition("/")[2]
    return next((size for start, size in _WINDOWS if name.startswith(start)), DEFAULT_WINDOW)
