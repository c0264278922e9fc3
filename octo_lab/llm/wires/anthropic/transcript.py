"""A repaired transcript as turns of content blocks."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from octo_lab.core.messages import Media, Message, ToolCall
from octo_lab.llm.text_only import mention
from octo_lab.llm.tool_names import alias
from octo_lab.llm.wires.anthropic.state import THINKING, text_blocks, weave
from octo_lab.llm.wires.body import unread
from octo_lab.llm.wires.pictures import can_show, in_base64

Json = dict[str, Any]
NO_OUTPUT = "[no output]"
GO_ON = "[go on]"
_GOOD_ID = re.compile(r"[a-zA-Z0-9_-]+", re.ASCII)


@dataclass(frozen=True, slots=True, kw_only=True)
class Reader:
    """Who the transcript is for. ``replays``: it takes its own private state back; ``signed``:
    only with signatures; ``prefill``: it goes on with an answer that was begun.
    """

    provider: str
    model: str
    vision: bool = True
    replays: bool = True
    signed: bool = False
    prefill: bool = False


def turns(messages: Iterable[Message], reader: Reader) -> list[Json]:
    """Turns of user and assistant by turns: all results of a step, and the words behind them,
    are one user turn.
    """
    written: list[Json] = []
    for message in messages:
        role = "assistant" if message.role == "assistant" else "user"
        content = _content(message, reader)
        if written and written[-1]["role"] == role:
            written[-1]["content"] += content
        elif content:
            written.append({"role": role, "content": content})
    if written and written[-1]["role"] == "assistant":
        _end(written, reader)
    return written


def may_think(written: Sequence[Json]) -> bool:
    """Whether a model with a thinking budget may use it: it goes on with no answer that was begun,
    and takes results only of a step that starts with its thinking.
    """
    if written[-1]["role"] == "assistant":
        return False
    last = next((turn for turn in reversed(written) if turn["role"] == "assistant"), None)
    kinds = [block["type"] for block in last["content"]] if last else []
    return "tool_use" not in kinds or kinds[0] in THINKING


def thinks(written: Sequence[Json]) -> bool:
    """Whether any thinking is played back."""
    return any(block["type"] in THINKING for turn in written for block in turn["content"])


def called_tools(written: Iterable[Json]) -> Iterator[str]:
    """The tools of all calls, by the names that are sent."""
    for turn in written:
        yield from (one["name"] for one in turn["content"] if one["type"] == "tool_use")


def _end(written: list[Json], reader: Reader) -> None:
    """The answer is to be gone on with: not behind a blank, and not every model does so."""
    last = written[-1]["content"][-1]
    if reader.prefill and last["type"] == "text" and not thinks(written[-1:]):
        last["text"] = last["text"].rstrip()
    else:
        written.append({"role": "user", "content": text_blocks(GO_ON)})


def _content(message: Message, reader: Reader) -> list[Json]:
    match message.role:
        case "assistant":
            return _answer(message, reader)
        case "tool":
            return [_result(message, reader)]
        case _:
            return _said(message, reader)


def _answer(message: Message, reader: Reader) -> list[Json]:
    calls = [_call(call) for call in message.tool_calls]
    state = message.provider_state
    if (
        state
        and reader.replays
        and (state.provider, state.model) == (reader.provider, reader.model)
    ):
        woven = weave(message, state.blob, calls, signed=reader.signed)
        if woven is not None:
            return woven
    return [*text_blocks(message.content), *calls]


def _call(call: ToolCall) -> Json:
    return {
        "type": "tool_use",
        "id": wire_id(call.id),
        "name": alias(call.name),
        "input": _input(call.arguments),
    }


def wire_id(id: str) -> str:
    """An id as the dialect allows it: itself, or one that stands for it and no other."""
    if _GOOD_ID.fullmatch(id):
        return id
    return f"toolu_{hashlib.sha256(id.encode('utf-8', 'surrogatepass')).hexdigest()[:32]}"


def _input(arguments: str) -> Json:
    """An object; what is none is marked, so that nobody takes it for the call."""
    try:
        value = json.loads(arguments, parse_constant=_no_constant)
    except (ValueError, RecursionError):
        value = None
    return value if isinstance(value, dict) else unread(arguments)


def _no_constant(name: str) -> None:
    raise ValueError(f"{name} is no JSON")


def _result(message: Message, reader: Reader) -> Json:
    result: Json = {"type": "tool_result", "tool_use_id": wire_id(message.tool_call_id)}
    content = _said(message, reader)
    result["content"] = content or text_blocks(NO_OUTPUT)
    if message.outcome != "ok":
        result["is_error"] = True
    return result


def _said(message: Message, reader: Reader) -> list[Json]:
    """Pictures, then words; media that cannot be sent are mentioned by name."""
    seen = [media for media in message.media if can_show(media, vision=reader.vision)]
    mentions = (mention(media) for media in message.media if media not in seen)
    words = "\n".join([*([message.content] if message.content.strip() else []), *mentions])
    return [*map(_picture, seen), *text_blocks(words)]


def _picture(media: Media) -> Json:
    source = {"type": "base64", "media_type": media.mime, "data": in_base64(media)}
    return {"type": "image", "source": source}
