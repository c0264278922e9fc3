"""Context a person attaches: ``@name``, ``--attach``, ``--context``."""

from __future__ import annotations

import ast
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from octo_lab.core.errors import UsageError
from octo_lab.core.mail import Attachment
from octo_lab.core.messages import Media
from octo_lab.core.pictures import picture_type
from octo_lab.core.text import clean, head_and_tail
from octo_lab.notebook.describe import TEXT_LIMIT, describe
from octo_lab.notebook.interpolate import evaluate
from octo_lab.notebook.mentions import MENTION, nothing_attached, readings

CELL = re.compile(r"(?:In\[|cell:?)(\d+)\]?$")
FILE_LIMIT = 10_000_000  # bytes


def mentioned(
    text: str, namespace: Mapping[str, Any], cells: Sequence[str]
) -> tuple[tuple[Attachment, ...], str]:
    """What the ``@name``s of a prompt mean: a variable, a cell, a file; others are just words.

    The second is the line that names those words, empty where there are none.
    """
    found: dict[str, Attachment] = {}
    unknown: list[re.Match[str]] = []
    for match in MENTION.finditer(text):
        for name in readings(match):
            attachment = found.get(name) or _named(name, namespace, cells)
            if attachment:
                found[name] = attachment
                break
        else:
            unknown.append(match)
    return tuple(found.values()), nothing_attached(text, unknown, namespace)


def _named(name: str, namespace: Mapping[str, Any], cells: Sequence[str]) -> Attachment | None:
    if name in namespace and not name.startswith("_"):
        return variable(name, namespace[name])
    if match := CELL.match(name):
        return _cell(int(match[1]), cells)
    path = Path(name).expanduser()
    try:
        return file(path) if path.is_file() else None
    except OSError:
        return None


def variable(name: str, value: object) -> Attachment:
    text, media = describe(value)
    return Attachment(name=name, text=text, media=media)


def _cell(number: int, cells: Sequence[str]) -> Attachment | None:
    if not 0 < number < len(cells):
        return None
    return Attachment(name=f"In[{number}]", text=cells[number])


def file(path: Path) -> Attachment:
    """A text file's text, a picture as a picture; raises UsageError."""
    try:
        if path.stat().st_size > FILE_LIMIT:
            raise UsageError(f"{str(path)!r} is larger than {FILE_LIMIT // 1_000_000} MB")
        data = path.read_bytes()
    except OSError as exc:
        raise UsageError(f"Cannot read {str(path)!r}: {exc.strerror}") from None
    mime = picture_type(data)
    if mime:
        media = Media(mime=mime, data=data, name=path.name)
        return Attachment(name=str(path), text=f"a picture: {path.name}", media=(media,))
    if b"\0" in data[:8192]:
        raise UsageError(f"{str(path)!r} is no text and no picture")
    return Attachment(
        name=str(path), text=head_and_tail(clean(data.decode(errors="replace")), TEXT_LIMIT)
    )


def attached(what: str, namespace: Mapping[str, Any], cells: Sequence[str]) -> Attachment:
    """One ``--attach``: a name as after ``@``, or an expression; raises UsageError."""
    found = _named(what, namespace, cells)
    if found:
        return found
    try:
        tree = ast.parse(what, mode="eval")
    except (SyntaxError, ValueError):
        raise UsageError(
            f"--attach {what!r} is no variable, expression or file",
            hint="name one; options stand before the prompt",
        ) from None
    hint = "run the cell that makes it, or name a file that exists"
    return variable(what, evaluate(f"--attach {what!r}", tree, namespace, hint=hint))


def typed_cells(shell: Any) -> Sequence[str]:
    """The cells run so far as they were typed, by number; the running one is the last."""
    history = shell.history_manager
    return history.input_hist_raw if history is not None else [""]


def last_cells(count: int, cells: Sequence[str], outputs: Mapping[int, Any]) -> Attachment:
    """The last ``count`` cells before this one, with the values they gave."""
    first = max(1, len(cells) - 1 - count)
    parts = [_cell_text(n, cells[n], outputs) for n in range(first, len(cells) - 1)]
    return Attachment(name=f"last {len(parts)} cells", text="\n\n".join(parts))


def _cell_text(number: int, source: str, outputs: Mapping[int, Any]) -> str:
    text = f"In[{number}]:\n{head_and_tail(source, TEXT_LIMIT)}"
    return f"{text}\nOut[{number}]: {describe(outputs[number])[0]}" if number in outputs else text
