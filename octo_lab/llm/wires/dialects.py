"""The dialects by name, for who knows what is spoken but not by whom."""

from __future__ import annotations

from collections.abc import Mapping
from urllib.parse import urlsplit

from octo_lab.core.messages import ChatRequest
from octo_lab.llm.asked import Dialect, dialect_of
from octo_lab.llm.hints import ModelHints
from octo_lab.llm.provider_config import ProviderConfig
from octo_lab.llm.wires.anthropic.wire import ANTHROPIC
from octo_lab.llm.wires.chat.wire import CHAT
from octo_lab.llm.wires.gemini.wire import GEMINI
from octo_lab.llm.wires.responses.wire import RESPONSES
from octo_lab.llm.wires.wire import Wire

DIALECTS: Mapping[Dialect, Wire] = {
    "anthropic": ANTHROPIC,
    "chat": CHAT,
    "gemini": GEMINI,
    "responses": RESPONSES,
}


def speaks(wire: Wire, dialect: Dialect, config: ProviderConfig) -> bool:
    """Whether the wire's requests are in that dialect, as a vendor's own form of it is."""
    asked = wire.write(ChatRequest(messages=()), config, ModelHints())
    return dialect_of(urlsplit(asked.url).path) == dialect
