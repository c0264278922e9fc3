"""What one turn is asked."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from octo_lab.core.messages import ChatRequest, Message, ToolSpec, Usage
from octo_lab.llm.text_only import mention


@dataclass(frozen=True, slots=True, kw_only=True)
class TurnInput:
    """All of what one turn is asked; ``id`` and ``spent`` are for events: see TurnBegan."""

    system: str
    history: Sequence[Message]
    user: Message
    temperature: float | None = None
    max_tokens: int | None = None
    response_schema: Mapping[str, Any] | None = None
    stop: tuple[str, ...] = ()
    id: str = ""
    spent: Usage = Usage()

    def request(self, tools: Sequence[ToolSpec], said: Sequence[Message]) -> ChatRequest:
        """The one way a request comes about; ``said`` is what was said since the user's message."""
        system = [Message(role="system", content=self.system)] if self.system.strip() else []
        return ChatRequest(
            messages=_with_newest_media(
                [_unsent(message) for message in (*system, *self.history, self.user, *said)]
            ),
            tools=tools,
            max_tokens=self.max_tokens,
            temperature=self.temperature,
            stop=self.stop,
            response_schema=self.response_schema,
        )


def _unsent(message: Message) -> Message:
    """Without what went to the person: the words say so."""
    if not any(media.sent for media in message.media):
        return message
    return replace(message, media=tuple(media for media in message.media if not media.sent))


def _with_newest_media(messages: list[Message]) -> list[Message]:
    """Only the newest batch of calls shows what it made; of older ones the words are left."""
    newest = next((n for n in reversed(range(len(messages))) if messages[n].tool_calls), 0)
    shown = [_in_words(message) for message in messages[:newest]]
    return [*shown, *messages[newest:]]


def _in_words(message: Message) -> Message:
    if message.role != "tool" or not message.media:
        return message
    return replace(
        message, content="\n".join([message.content, *map(mention, message.media)]), media=()
    )
