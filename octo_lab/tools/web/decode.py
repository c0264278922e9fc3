"""Bytes of a page as text, in whatever charset it says or seems to be."""

from __future__ import annotations

import re
from email.message import Message

from octo_lab.security.net.ports import WebResponse

_META = re.compile(rb"<meta[^>]{0,200}?charset\s*=\s*[\"']?\s*([\w.:-]{1,40})", re.IGNORECASE)
_XML = re.compile(rb"^\s*<\?xml[^>]{0,200}?encoding\s*=\s*[\"']([\w.:-]{1,40})", re.IGNORECASE)
_MARKS = ((b"\xef\xbb\xbf", "utf-8-sig"), (b"\xff\xfe", "utf-16"), (b"\xfe\xff", "utf-16"))
# Charsets of pages only: Python has codecs that run for ever or make other things than text.
_KNOWN = re.compile(
    r"utf-?8|utf-?16(?:le|be)?|(?:us-)?ascii|latin-?1|iso-?8859-\d{1,2}|windows-\d{3,4}|cp\d{3,4}"
    r"|koi8-[ru]|gb2312|gbk|gb18030|big5(?:-hkscs)?|shift[_-]jis|euc-(?:jp|kr)|iso-2022-jp"
    r"|tis-620|macintosh"
)
# What browsers read under these names (the Encoding standard of WHATWG).
_WIDER = {
    **dict.fromkeys(("ascii", "us-ascii", "latin1", "latin-1", "iso-8859-1"), "cp1252"),
    **dict.fromkeys(("gb2312", "gbk"), "gb18030"),
    "shift_jis": "cp932",
    "shift-jis": "cp932",
    "euc-kr": "cp949",
    "iso-8859-9": "cp1254",
    "macintosh": "mac-roman",
}


def content_type(response: WebResponse) -> tuple[str, str]:
    """The media type in lower case, and the charset if one is named."""
    message = Message()
    message["content-type"] = response.headers.get("content-type", "")[:500]
    if "/" not in message["content-type"]:
        return "", ""
    return message.get_content_type(), str(message.get_param("charset") or "")


def decode(response: WebResponse) -> str:
    """Never fails: what cannot be read becomes U+FFFD."""
    body = response.body
    mark = next((name for start, name in _MARKS if body.startswith(start)), "")
    said = mark or _usable(content_type(response)[1]) or _within(body[:2048])
    if said:
        return body.decode(said, "replace")
    try:
        return body.decode()
    except UnicodeDecodeError as exc:
        nearly_all = exc.start >= len(body) - 4 and response.cut
        return body.decode("utf-8" if nearly_all else "cp1252", "replace")


def _within(head: bytes) -> str:
    match = _META.search(head) or _XML.search(head)
    return _usable(match[1].decode("ascii", "replace")) if match else ""


def _usable(name: str) -> str:
    name = name.strip(" \"'").lower()
    if not _KNOWN.fullmatch(name):
        return ""
    wider = _WIDER.get(name, name)
    try:
        b"".decode(wider)
    except LookupError:
        return ""
    return wider
