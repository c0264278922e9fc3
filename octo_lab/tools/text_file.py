"""The text in a file's bytes, such that what is not changed stays byte for byte as it is."""

from __future__ import annotations

import codecs
import re
from dataclasses import dataclass

from octo_lab.core.errors import ToolFailed

_PROBE = 8192
_ENCODINGS = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
_UTF_8 = re.compile("[^\x00-\x7f\udc80-\udcff]")  # besides bytes that are none
MARKS = tuple(mark for mark, _ in _ENCODINGS)


@dataclass(frozen=True, slots=True, kw_only=True)
class TextFile:
    """``text`` is what follows the byte order ``mark``; a byte that is none of the encoding's is
    a lone surrogate in it.
    """

    text: str
    encoding: str = "utf-8"
    mark: bytes = b""

    def with_text(self, text: str) -> bytes:
        """The bytes of the file with another text; ToolFailed when its encoding lacks a letter."""
        try:
            return self.mark + text.encode(self.encoding, self._errors)
        except UnicodeEncodeError as exc:
            raise ToolFailed(
                f"{text[exc.start]!r} cannot be written in {self.encoding}, the file's encoding",
                hint="use other characters, or write the whole file anew with write_file",
            ) from None

    @property
    def _errors(self) -> str:
        return "surrogatepass" if self.encoding.startswith("utf-16") else "surrogateescape"


def read_text(data: bytes) -> TextFile | None:
    """The text of a file, or None when it is no text.

    Without a mark it is UTF-8, and where no letter fits that, the old Western encoding.
    """
    for mark, encoding in _ENCODINGS:
        if data.startswith(mark):
            return _decoded(data[len(mark) :], encoding, mark)
    if b"\0" in data[:_PROBE]:
        return None
    return _decoded(data, "utf-8", b"")


def _decoded(data: bytes, encoding: str, mark: bytes) -> TextFile | None:
    if encoding != "utf-8":
        return _wide(data, encoding, mark)
    try:
        return TextFile(text=data.decode(), mark=mark)
    except UnicodeDecodeError:
        text = data.decode(errors="surrogateescape")
    if not mark and _western(text):
        for other in ("cp1252", "latin-1"):
            try:
                return TextFile(text=data.decode(other), encoding=other)
            except UnicodeDecodeError:
                continue
    return TextFile(text=text, mark=mark)


def _western(text: str) -> bool:
    """Whether everything beyond ASCII is no UTF-8."""
    return _UTF_8.search(text) is None


def _wide(data: bytes, encoding: str, mark: bytes) -> TextFile | None:
    try:
        text = data.decode(encoding, "surrogatepass")
    except UnicodeDecodeError:  # an odd number of bytes
        return None
    return TextFile(text=text, encoding=encoding, mark=mark)


def line_end(text: str) -> str:
    """The line end that most lines of a text have."""
    windows = text.count("\r\n")
    return "\r\n" if windows * 2 > text.count("\n") else "\n"
