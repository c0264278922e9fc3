"""What one turn is asked."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from octo_lab.core.messages import ChatRequest, Message, ToolSpec


@dataclass(frozen=True, slots=True, kw_only=True)
class TurnInput:
    """All of what one turn is asked; ``id`` is that of the turn, for events."""

    system: str
    history: Sequence[Message]
    user: Message
    temperature: float | None = None
    max_tokens: int | None = None
    response_schema: Mapping[str, Any] | None = None
    stop: tuple[str, ...] = ()
    id: str = ""

    def request(self, tools: Sequence[ToolSpec], said: Sequence[Message]) -> ChatRequest:
        """The one way a request comes about; ``said`` is what was said since the user's message."""
        system = [Message(role="system", content=self.system)] if self.system.strip() else []
        return ChatRequest(
            messages=[*system, *self.history, self.user, *said],
            tools=tools,
            max_tokens=self.max_tokens,
            temperature=self.temperature,
            stop=self.stop,
            response_schema=self.response_schema,
        )
