"""Writes a transcript as chat-completions messages: what is sent of each, and where."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

from octo_lab.core.messages import Media, Message, ProviderState, ToolCall
from octo_lab.llm.hints import ModelHints
from octo_lab.llm.repair import repair
from octo_lab.llm.text_only import mention, text_only
from octo_lab.llm.tool_names import alias
from octo_lab.llm.wires.body import written_arguments
from octo_lab.llm.wires.pictures import can_show, data_url

Json = dict[str, Any]
# Kimi refuses an assistant message without thinking, DeepSeek one where it is missing.
STUB = " "
_THOUGHTS = ("reasoning_content", "reasoning")
_STATE = {"reasoning_content": str, "reasoning": str, "reasoning_details": list}


@dataclass(frozen=True, slots=True, kw_only=True)
class Target:
    """Whom the messages go to; private state goes back only to the same."""

    provider: str
    model: str
    hints: ModelHints


def written_messages(history: Sequence[Message], target: Target) -> list[Json]:
    """A repaired copy, in the shape that the target accepts."""
    hints = target.hints
    messages = list(history) if hints.tools else text_only(history)
    if hints.system == "user":
        messages = _instructing(messages)
    if hints.merge_system:
        messages = repair(messages)
    else:
        apart = [m for m in messages if m.role == "system" and m.content.strip()]
        messages = [*apart, *repair([m for m in messages if m.role != "system"])]
    return [item for message in _moved(messages, hints) for item in _written(message, target)]


def _instructing(messages: Sequence[Message]) -> list[Message]:
    """Instructions at the head of what the user says first."""
    told = [replace(m, role="user") for m in messages if m.role == "system"]
    return [*told, *(m for m in messages if m.role != "system")]


def _moved(messages: Sequence[Message], hints: ModelHints) -> Iterator[Message]:
    """Pictures of tool results follow their block as a user message: a result is only text."""
    pictures: list[Media] = []
    for message in messages:
        if message.role != "tool" and pictures:
            if message.role == "user":  # no two user messages in a row
                kept = _pictures(message, hints)
                yield _joined(_shown(pictures), _with_mentions(message, kept))
                pictures = []
                continue
            yield _shown(pictures)
            pictures = []
        if message.role == "tool":
            seen = _pictures(message, hints)
            pictures += seen
            yield _with_mentions(message, seen)
        else:
            kept = _pictures(message, hints) if message.role == "user" else []
            yield _with_mentions(message, kept)
    if pictures:
        yield _shown(pictures)


def _pictures(message: Message, hints: ModelHints) -> list[Media]:
    return [media for media in message.media if can_show(media, vision=hints.vision)]


def _shown(pictures: Sequence[Media]) -> Message:
    text = "The pictures that the tools returned:"
    return Message(role="user", content=text, media=tuple(pictures))


def _joined(first: Message, second: Message) -> Message:
    text = f"{first.content}\n\n{second.content}"
    return replace(first, content=text, media=first.media + second.media)


def _with_mentions(message: Message, kept: Sequence[Media]) -> Message:
    """Media that cannot be sent are mentioned by name."""
    left_out = [m for m in message.media if m not in kept]
    if not left_out:
        return message
    lines = [message.content] if message.content.strip() else []
    media = tuple(kept) if message.role == "user" else ()
    return replace(message, content="\n".join([*lines, *map(mention, left_out)]), media=media)


def _written(message: Message, target: Target) -> Iterator[Json]:
    match message.role:
        case "tool":
            call_id = message.tool_call_id
            yield {"role": "tool", "tool_call_id": call_id, "content": message.content}
        case "assistant":
            yield _assistant(message, target)
        case "user" if message.media:
            yield {"role": "user", "content": list(_parts(message))}
        case "system":
            yield {"role": target.hints.system, "content": message.content}
        case role:
            yield {"role": role, "content": message.content}


def _assistant(message: Message, target: Target) -> Json:
    item: Json = {"role": "assistant", "content": message.content}
    if message.tool_calls:
        item["content"] = message.content if message.content.strip() else None
        item["tool_calls"] = [_call(call) for call in message.tool_calls]
    return item | _thinking(message.provider_state, target)


def _thinking(state: ProviderState | None, target: Target) -> Json:
    """Earlier thinking as this model gave it, in the fields it came in, or what stands for it."""
    hints = target.hints
    known = _own_state(state, target) if hints.replay_state else {}
    if hints.reasoning == "dropped":
        known = {name: value for name, value in known.items() if name not in _THOUGHTS}
    if hints.reasoning == "stubbed" and not any(known.get(name) for name in _THOUGHTS):
        known["reasoning_content"] = STUB
    return known


def _own_state(state: ProviderState | None, target: Target) -> Json:
    if state is None or (state.provider, state.model) != (target.provider, target.model):
        return {}
    try:
        kept = json.loads(state.blob)
    except ValueError:
        return {}
    fits = kept.items() if isinstance(kept, dict) else ()
    return {name: value for name, value in fits if isinstance(value, _STATE.get(name, ()))}


def _parts(message: Message) -> Iterator[Json]:
    if message.content.strip():
        yield {"type": "text", "text": message.content}
    for media in message.media:
        yield {"type": "image_url", "image_url": {"url": data_url(media)}}


def _call(call: ToolCall) -> Json:
    function = {"name": alias(call.name), "arguments": written_arguments(call.arguments)}
    return {"id": call.id, "type": "function", "function": function}
