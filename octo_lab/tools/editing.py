"""Changes files of the workspace for tools: whole or not at all, recorded, shown as a diff."""

from __future__ import annotations

import json
from collections.abc import Callable

from octo_lab.core.errors import ToolFailed
from octo_lab.core.text import clean, head_and_tail
from octo_lab.security.paths import Edited
from octo_lab.tools.changes import Change
from octo_lab.tools.diffing.unified import unified_diff
from octo_lab.tools.nearby import near_hint
from octo_lab.tools.text_file import TextFile, read_text
from octo_lab.tools.tool import ToolContext
from octo_lab.tools.workspace import files_of, size_words

_LINES = 400
_WIDEST = 500
_LARGEST = 40_000
_ASKED = 4000


def edit_file(
    ctx: ToolContext, path: str, change: Callable[[bytes | None], bytes | None]
) -> Edited:
    """As ``Enclosure.edit``; what it does can be shown and undone. Call it in a worker thread."""
    with ctx.changes.making() as tell:
        return files_of(ctx).edit(path, change, ahead=lambda edited: tell(_change(ctx, edited)))


def _change(ctx: ToolContext, edited: Edited) -> Change:
    return Change(
        path=edited.path,
        before=edited.before,
        after=edited.after,
        mode=edited.mode,
        made=edited.made,
        diff=ctx.screen.mask(shown_diff(edited)),
        call_id=ctx.call_id,
    )


def asked(path: str, *texts: str) -> str:
    """What a person sees who is asked: where, and what would stand there."""
    shown = (head_and_tail(clean(text), _ASKED) for text in texts if text)
    return "\n\n".join((one_line(path), *shown))


def existing_text(ctx: ToolContext, data: bytes | None, path: str) -> TextFile:
    """The text of a file that must be there; raises ToolFailed."""
    if data is None:
        near = near_hint(files_of(ctx), path)
        raise ToolFailed(f"{path!r} does not exist", hint=near or "make it with write_file")
    text = read_text(data)
    if text is None:
        raise ToolFailed(f"{path!r} is a binary file of {len(data)} bytes")
    return text


def shown_diff(done: Edited) -> str:
    """The change as a unified diff of bounded size, or in words for what is no text."""
    path = one_line(done.path)
    before, after = _text(done.before), _text(done.after)
    if before is None or after is None:
        return f"Binary file {path}: {_size(done.before)} -> {_size(done.after)}\n"
    old = before if done.before is not None else None
    new = after if done.after is not None else None
    return _bounded(clean(unified_diff(path, old, new)))


def one_line(path: str) -> str:
    """A name that cannot be taken for more than a name: odd ones are quoted."""
    return path if path.isprintable() else json.dumps(clean(path), ensure_ascii=False)


def _text(data: bytes | None) -> str | None:
    if data is None:
        return ""
    found = read_text(data)
    return found.text.replace("\r\n", "\n") if found else None


def _size(data: bytes | None) -> str:
    return "nothing" if data is None else size_words(len(data))


def _bounded(diff: str) -> str:
    lines = diff.split("\n")
    shown: list[str] = []
    left = _LARGEST
    for number, line in enumerate(lines[:-1]):
        short = line if len(line) <= _WIDEST else f"{line[:_WIDEST]}…"
        left -= len(short) + 1
        if number >= _LINES or left < 0:
            shown.append(f"… {len(lines) - 1 - number} more lines")
            break
        shown.append(short)
    return "\n".join([*shown, ""])
