"""What a terminal needs of whoever answers, be it this process or a gateway."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Protocol

from octo_lab.channels.inbox import Heard
from octo_lab.core.mail import AskOptions, Control
from octo_lab.core.replies import ControlReply


class Conversation(Protocol):
    """One chat. Every member may raise an OctoError."""

    @property
    def place(self) -> str:
        """Who answers, in words for a status line."""
        ...

    async def ask(self, text: str, options: AskOptions) -> str:
        """Say something; returns the id that its answers carry."""
        ...

    async def control(self, control: Control) -> ControlReply: ...

    def heard(self) -> AsyncIterator[Heard]:
        """Everything said in this chat from the opening on; of a turn the latest snapshot."""
        ...
