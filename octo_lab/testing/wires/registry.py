"""Which dialect a request is in, told from its path. To add one: write its file, add it here."""

from __future__ import annotations

from octo_lab.testing.wires import anthropic, chat, gemini, responses
from octo_lab.testing.wires.server_wire import ServerWire

WIRES = (chat.WIRE, responses.WIRE, anthropic.WIRE, gemini.WIRE)


def wire_of(path: str) -> ServerWire | None:
    place = path.partition("?")[0]
    return next((wire for wire in WIRES if wire.serves(place)), None)
