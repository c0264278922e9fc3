"""A transcript told in plain words, for a server that accepts it in no other form."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from octo_lab.core.messages import Media, Message, ToolCall
from octo_lab.llm.repair import repair


def text_only(messages: Sequence[Message]) -> list[Message]:
    """Only text: calls and their results become notes in the past tense, media are mentioned,
    thinking and private state are left out. Telling it twice changes nothing.
    """
    messages = repair(messages)  # an id may be used by several calls
    answers = {m.tool_call_id: m for m in messages if m.role == "tool"}
    return [told for message in messages for told in _told(message, answers)]


def mention(media: Media) -> str:
    """What stands for media that cannot be sent."""
    return f"[{media.mime}: {media.name or 'unnamed'}]"


def _told(message: Message, answers: dict[str, Message]) -> Iterator[Message]:
    if message.role == "tool":
        return
    lines = [message.content] if message.content.strip() else []
    text = "\n".join([*lines, *map(mention, message.media)])
    if text or not message.tool_calls:
        yield Message(role=message.role, content=text)
    if message.tool_calls:
        notes = (_note(call, answers[call.id]) for call in message.tool_calls)
        yield Message(role="user", content="\n".join(notes))


def _note(call: ToolCall, answer: Message) -> str:
    called = f"[The tool {call.name} was called with {call.arguments}"
    said = "\n".join([answer.content, *map(mention, answer.media)]).strip()
    return f"{called} and returned: {said or 'nothing'}]"
