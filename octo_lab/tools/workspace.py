"""The files of a workspace, for tools that read: bounded, and no binary taken for text."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from octo_lab.core.errors import ToolFailed
from octo_lab.core.text import clean
from octo_lab.security.paths import Enclosure, Root
from octo_lab.tools.text_file import MARKS, read_text
from octo_lab.tools.tool import ToolContext

LARGEST = 10_000_000


def files_of(ctx: ToolContext) -> Enclosure:
    return enclosure(ctx.workspace, ctx.private, ctx.roots, soft=ctx.soft)


def enclosure(
    workspace: Path, private: Sequence[Path], roots: Sequence[Root] = (), *, soft: bool = False
) -> Enclosure:
    """The files of a workspace and of the other ``roots``, without octo_lab's own."""
    return Enclosure(root=workspace, private=(".octo", *private), others=tuple(roots), soft=soft)


def read_bytes(files: Enclosure, path: str) -> bytes:
    """A whole file; raises ToolFailed when it has more than 10 MB."""
    with files.open_file(path) as opened:
        data = opened.read(LARGEST + 1)
    if len(data) > LARGEST:
        raise ToolFailed(
            f"{path!r} has more than {LARGEST // 1_000_000} MB",
            hint="look at parts of it in shell, as with head, tail or grep",
        )
    return data


def decode(data: bytes) -> str | None:
    """The text of a file, or None when it is no text. Bytes that are none become U+FFFD."""
    found = read_text(data)
    return clean(found.text) if found else None


def utf8_lines(data: bytes) -> bytes:
    """A text file as UTF-8 with plain line ends, byte for byte where it is that already.

    Nothing at all when it is binary.
    """
    if b"\0" in data or data.startswith(MARKS):
        data = (decode(data) or "").encode()
    return data.replace(b"\r\n", b"\n") if b"\r" in data else data


def size_words(size: int) -> str:
    """A size for people and models."""
    if size < 1000:
        return "1 byte" if size == 1 else f"{size} bytes"
    return f"{size / 1000:.1f} kB" if size < 1_000_000 else f"{size / 1_000_000:.1f} MB"
