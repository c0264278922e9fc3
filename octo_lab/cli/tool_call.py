"""``octo tools call``: one tool run by hand, its progress, its result, what it changed."""

from __future__ import annotations

import json
import mimetypes
import sys
from dataclasses import dataclass, replace
from itertools import chain, count, zip_longest
from pathlib import Path

import anyio

from octo_lab.cli.ask import FAILED
from octo_lab.cli.connect import conversation_in, place_around, warned
from octo_lab.cli.conversation import Conversation
from octo_lab.cli.look import refused
from octo_lab.cli.outcome import Outcome
from octo_lab.cli.printer import Printer, printable
from octo_lab.cli.run import CHAT
from octo_lab.core.errors import UsageError
from octo_lab.core.frames import Json
from octo_lab.core.ids import new_id
from octo_lab.core.messages import Media
from octo_lab.core.replies import ControlReply, Told
from octo_lab.core.tool_mail import CallTool, GetProgress, ToolAnswer
from octo_lab.core.wire import reply_json

MAX_ARGUMENTS = 4_000_000
_OUTCOMES = {"ok": 0, "error": FAILED, "denied": FAILED, "cancelled": FAILED}
_EVERY = 0.3
_EXAMPLE = "write '{\"key\": 1}', or - to read it from stdin"


@dataclass(frozen=True, slots=True, kw_only=True)
class CallOptions:
    """``out``: where pictures and files of the result go, a folder or the name of one file."""

    as_json: bool = False
    out: Path | None = None
    workspace: Path | None = None


def call_tool(wanted: CallTool, options: CallOptions) -> Outcome:
    wanted = replace(wanted, arguments=_arguments(wanted.arguments), id=new_id())
    opening = conversation_in(warned(place_around(options.workspace)), CHAT)

    async def ask() -> ControlReply:
        async with opening as conversation:
            return await _followed(conversation, wanted)

    reply = anyio.run(ask)
    if not isinstance(reply, ToolAnswer):
        return refused(reply)
    if wanted.dry:
        sys.stdout.write(json.dumps({"decision": reply.decision, "reason": reply.reason}) + "\n")
        return Outcome()
    return _shown(reply, options)


async def _followed(conversation: Conversation, wanted: CallTool) -> ControlReply:
    """The answer; where somebody looks, what the tool says on its way is shown meanwhile."""
    async with anyio.create_task_group() as tasks:
        if sys.stderr.isatty() and not wanted.dry:
            tasks.start_soon(_watch, conversation, wanted.id)
        reply = await conversation.control(wanted)
        tasks.cancel_scope.cancel()
    return reply


async def _watch(conversation: Conversation, call_id: str) -> None:
    seen = 0
    while True:
        await anyio.sleep(_EVERY)
        said = await conversation.control(GetProgress(id=call_id, seen=seen))
        if isinstance(said, Told) and said.text and not said.failed:
            seen += len(said.text)
            sys.stderr.write(printable(said.text).rstrip("\n") + "\n")
            sys.stderr.flush()


def _shown(reply: ToolAnswer, options: CallOptions) -> Outcome:
    files = _kept(reply, options.out) if options.out else []
    if options.as_json:
        sys.stdout.write(json.dumps(_json(reply, files)) + "\n")
    _tell(reply, options)
    if not reply.state:
        hint = "allow it with --yes" if reply.decision == "ask" else ""
        word = "would be asked about" if reply.decision == "ask" else "was denied"
        return Outcome(code=FAILED, error=f"{reply.name!r} {word}: {reply.reason}", hint=hint)
    if not options.as_json:
        sys.stdout.write(printable(reply.text) + "\n")
        for item, path in zip_longest(reply.media, files):
            where = f"in {str(path)!r}" if path else "keep it with --out PATH"
            sys.stdout.write(f"[{item.mime}, {where}]\n")
    return Outcome(code=_OUTCOMES[reply.state])


def _tell(reply: ToolAnswer, options: CallOptions) -> None:
    """What is beside the result: notes, the change of files, how to take it back."""
    for note in reply.notes:
        sys.stderr.write(printable(f"· {note}") + "\n")
    if options.as_json or not reply.diff:
        return
    Printer(out=sys.stdout, side=sys.stderr).show_diff(reply.diff)
    if reply.undo:
        sys.stderr.write("· take it back with: octo tools undo\n")


def _json(reply: ToolAnswer, files: list[Path]) -> Json:
    media = [
        {"mime": item.mime, "name": item.name, "size": len(item.data)}
        | ({"path": str(path)} if path else {})
        for item, path in zip_longest(reply.media, files)
    ]
    return {**reply_json(replace(reply, media=())), "media": media}


def _kept(reply: ToolAnswer, out: Path) -> list[Path]:
    """Write the media; a folder's files are never overwritten, a file that is named is."""
    if len(reply.media) == 1 and not out.is_dir():
        out.write_bytes(reply.media[0].data)
        return [out]
    if reply.media:
        out.mkdir(parents=True, exist_ok=True)
    return [_written(out, _name(item, reply.name), item.data) for item in reply.media]


def _written(folder: Path, name: str, data: bytes) -> Path:
    whole = Path(name)
    later = (f"{whole.stem}-{number}{whole.suffix}" for number in count(2))
    path = next(path for one in chain([name], later) if not (path := folder / one).exists())
    path.write_bytes(data)
    return path


def _name(item: Media, tool: str) -> str:
    name = printable(item.name).rpartition("/")[2].strip(". ")
    return name or f"{tool}{mimetypes.guess_extension(item.mime) or ''}"


def _arguments(text: str) -> str:
    """The JSON object, from stdin for ``-``; refused before anything is started."""
    text = _stdin() if text == "-" else text
    try:
        value = json.loads(text or "{}")
    except (ValueError, RecursionError) as exc:
        raise UsageError(f"The arguments are no JSON: {exc}", hint=_EXAMPLE) from None
    if not isinstance(value, dict):
        raise UsageError("The arguments are no JSON object", hint=_EXAMPLE)
    return text


def _stdin() -> str:
    data = sys.stdin.buffer.read(MAX_ARGUMENTS + 1)
    if len(data) > MAX_ARGUMENTS:
        raise UsageError(
            "The arguments on stdin are too long", hint=f"at most {MAX_ARGUMENTS} bytes"
        )
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as exc:
        raise UsageError(
            f"The arguments on stdin are no UTF-8: {exc.reason}", hint=_EXAMPLE
        ) from None
