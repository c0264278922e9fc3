"""What a panel needs from the runtime: the port the kernel's host fills."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

from octo_lab.core.errors import OctoError
from octo_lab.core.mail import AskOptions, Control, OutboundMessage
from octo_lab.core.replies import ControlReply
from octo_lab.core.turns import TurnSnapshot

Answer = Callable[[ControlReply | OctoError], None]
Hear = Callable[[TurnSnapshot | OutboundMessage], None]


class PanelBackend(Protocol):
    """The notebook's chat. Every method may be called from any thread and returns at once."""

    def ask(self, text: str, options: AskOptions, *, message_id: str) -> None:
        """Publish a message; a refusal is heard as a failed OutboundMessage replying to it."""
        ...

    def control(self, control: Control, answer: Answer) -> None:
        """Run a control and call ``answer`` once, from any thread."""
        ...

    def listen(self, hear: Hear) -> Callable[[], None]:
        """Hear every snapshot and message of this chat, cells' turns included, one at a time.

        Returns what ends it.
        """
        ...
