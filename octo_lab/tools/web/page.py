"""An answer from the web as something to read."""

from __future__ import annotations

import re
from typing import Literal

from octo_lab.security.net.ports import WebResponse
from octo_lab.tools.web.decode import content_type, decode
from octo_lab.tools.web.markdown import Mode, Readable, convert

Kind = Literal["html", "text", "binary"]
_HTML = ("text/html", "application/xhtml+xml")
_TEXT = ("json", "xml", "javascript", "yaml", "x-sh", "toml", "x-www-form-urlencoded", "sql")
_UNTOLD = ("", "application/octet-stream", "binary/octet-stream", "application/unknown", "*/*")
_MAGIC = (
    (b"%PDF-", "PDF"), (b"\x89PNG", "PNG picture"), (b"\xff\xd8\xff", "JPEG picture"),
    (b"GIF8", "GIF picture"), (b"PK\x03\x04", "ZIP archive"), (b"\x1f\x8b", "gzip archive"),
    (b"RIFF", "RIFF file"), (b"\x7fELF", "program"), (b"SQLite format 3", "SQLite database"),
)  # fmt: skip
# The tags by which browsers know a page (the MIME Sniffing standard of WHATWG).
_PAGE = re.compile(
    rb"(?:\xef\xbb\xbf)?\s*<(?:!--|(?:!doctype html|html|head|script|iframe|h1|div|font|table|a"
    rb"|style|title|b|body|br|p|meta)[\s>])",
    re.IGNORECASE,
)


def kind_of(response: WebResponse) -> Kind:
    """As the server says; where it says nothing of use, as the first bytes look."""
    if any(response.body.startswith(start) for start, _ in _MAGIC):
        return "binary"
    said, _ = content_type(response)
    if said in _HTML:
        return "html"
    if said in _UNTOLD:
        return _sniffed(response.body[:1024])
    if said.startswith("text/") or any(word in said for word in _TEXT):
        return "text"
    return "binary"


def read_page(response: WebResponse, mode: Mode) -> Readable:
    """Blocks for a while with a long page: call it in a thread. Raises ToolFailed."""
    match kind_of(response):
        case "html":
            return convert(decode(response), mode, response.url)
        case "text":
            return Readable(text=decode(response).strip("\ufeff"), title="")
        case "binary":
            return Readable(text=described(response), title="")


def described(response: WebResponse) -> str:
    """What stands for an answer that is no text."""
    said = content_type(response)[0] or "unknown type"
    magic = next((name for start, name in _MAGIC if response.body.startswith(start)), "")
    size = f"{'more than ' if response.cut else ''}{len(response.body):,} bytes"
    return f"[{magic or 'No text'}: {said}, {size}; only text is shown]"


def _sniffed(head: bytes) -> Kind:
    if _PAGE.match(head):
        return "html"
    wide = head.startswith((b"\xff\xfe", b"\xfe\xff"))
    return "binary" if b"\x00" in head and not wide else "text"
