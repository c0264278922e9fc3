"""Writes a repaired transcript as ``contents``: turns of the user and of the model."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from pydantic_core import from_json

from octo_lab.core.messages import Media, Message, ToolCall
from octo_lab.core.text import clean
from octo_lab.llm.hints import ModelHints
from octo_lab.llm.text_only import mention
from octo_lab.llm.tool_names import alias
from octo_lab.llm.wires.body import unread
from octo_lab.llm.wires.gemini.state import Kept, kept_parts
from octo_lab.llm.wires.pictures import can_show, in_base64

Json = dict[str, Any]
# fmt: off
MEDIA = frozenset((
    "image/png", "image/jpeg", "image/webp", "image/heic", "image/heif", "application/pdf",
    "audio/wav", "audio/mp3", "audio/mpeg", "audio/aiff", "audio/aac", "audio/ogg", "audio/flac",
))
# fmt: on
# What the vendor names for calls of which it never gave, or no longer knows, a signature.
NO_SIGNATURE = "skip_thought_signature_validator"
_SHOWN = "What the tools returned beside their text:"


@dataclass(frozen=True, slots=True, kw_only=True)
class Transcribing:
    """For whom a transcript is written. ``signs``: a model that wants every call signed."""

    provider: str
    model: str
    hints: ModelHints
    signs: bool


@dataclass(slots=True)
class _Turn:
    role: str
    answers: bool  # holds results of calls, and nothing else
    parts: list[Json] = field(default_factory=list)


def contents(messages: Sequence[Message], to: Transcribing) -> list[Json]:
    """Turns of ``messages`` without the system's; neighbours of one speaker are one turn, but
    results of calls have a turn of their own, one for all calls of the turn before.
    """
    turns: list[_Turn] = []
    shown: list[Json] = []  # media of results, which follow their turn
    for message in messages:
        if message.role == "tool":
            shown += _media_parts(message, to.hints)
            _add(turns, "user", [_answer(message, to.hints)], answers=True)
            continue
        if shown:
            _add(turns, "user", [{"text": _SHOWN}, *shown])
            shown = []
        if message.role == "assistant":
            _add(turns, "model", list(_model_parts(message, to)))
        else:
            _add(turns, "user", list(_user_parts(message, to.hints)))
    if shown:
        _add(turns, "user", [{"text": _SHOWN}, *shown])
    return [{"role": turn.role, "parts": turn.parts} for turn in turns]


def _add(turns: list[_Turn], role: str, parts: list[Json], *, answers: bool = False) -> None:
    if not parts:
        return
    if not turns or (turns[-1].role, turns[-1].answers) != (role, answers):
        turns.append(_Turn(role, answers))
    turns[-1].parts += parts


def _user_parts(message: Message, hints: ModelHints) -> Iterator[Json]:
    text = _with_mentions(message, hints)
    if text.strip():
        yield {"text": text}
    yield from _media_parts(message, hints)


def _media_parts(message: Message, hints: ModelHints) -> Iterator[Json]:
    for media in message.media:
        if _is_sent(media, hints):
            yield {"inlineData": {"mimeType": media.mime, "data": in_base64(media)}}


def _is_sent(media: Media, hints: ModelHints) -> bool:
    return can_show(media, vision=hints.vision, kinds=MEDIA)


def _with_mentions(message: Message, hints: ModelHints, *, none: bool = False) -> str:
    """The text, and by name the media that are not sent; with ``none`` no media are."""
    left_out = [m for m in message.media if none or not _is_sent(m, hints)]
    lines = [message.content] if message.content.strip() else []
    return "\n".join([*lines, *map(mention, left_out)])


def _answer(message: Message, hints: ModelHints) -> Json:
    word = "output" if message.outcome == "ok" else "error"
    answer: Json = {
        "id": message.tool_call_id,
        "name": alias(message.tool_name),
        "response": {word: _with_mentions(message, hints)},
    }
    return {"functionResponse": answer}


def _model_parts(message: Message, to: Transcribing) -> Iterator[Json]:
    """What the model said: as it came if that is known, else its text and then its calls."""
    text = _with_mentions(message, to.hints, none=True)
    kept = kept_parts(message, to.provider, to.model) if to.hints.replay_state else []
    if text != message.content:
        kept = [part for part in kept if part.kind == "call"]
    calls = {call.id: call for call in message.tool_calls}
    signed = any(p.signature for p in kept if p.kind == "call" and p.value in calls)
    bare = "" if signed or not to.signs else NO_SIGNATURE
    if text.strip() and not any(part.kind == "text" for part in kept):
        yield {"text": text}
    at = 0
    for part in kept:
        match part:
            case Kept("text", int(size), signature):
                said, at = text[at : at + size], at + size
                if signature or said.strip():
                    yield _signed({"text": said}, signature)
            case Kept("thought", thought, signature):
                yield _signed({"text": thought, "thought": True}, signature)
            case Kept("call", str(id), signature) if id in calls:
                yield _signed({"functionCall": _call(calls.pop(id))}, signature or bare)
            case _:
                pass
    yield from (_signed({"functionCall": _call(call)}, bare) for call in calls.values())


def _signed(part: Json, signature: str) -> Json:
    return {**part, "thoughtSignature": signature} if signature else part


def _call(call: ToolCall) -> Json:
    return {"id": call.id, "name": alias(call.name), "args": _arguments(call.arguments)}


def _arguments(text: str) -> Json:
    """As an object; what is none is told as it is."""
    try:
        value = from_json(clean(text), allow_inf_nan=False)
    except ValueError:
        value = None
    return value if isinstance(value, dict) else unread(text)
