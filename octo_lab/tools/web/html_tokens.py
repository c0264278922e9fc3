"""Cuts HTML into tags and text in one pass, whatever it looks like."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

MAX_ATTRIBUTES = 50
# What is inside of these is no markup, up to their own end tag.
RAW = frozenset(
    {"iframe", "noembed", "noframes", "noscript", "plaintext", "script", "style"}
    | {"textarea", "title", "xmp"}
)
_NAME = re.compile(r"[a-zA-Z][^\s/>\x00]{0,60}")
_ATTRIBUTE = re.compile(r"[\s/]*([^\s/>=][^\s/>=]*)\s*(=?)\s*")
_BARE = re.compile(r"[^\s>]*")
_BLANK = re.compile(r"[\s/]*")


@dataclass(frozen=True, slots=True, kw_only=True)
class Text:
    """``raw``: the inside of an element such as ``script``. References are not resolved."""

    text: str
    raw: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Open:
    """A start tag; names are in lower case, only the first attributes are kept."""

    name: str
    attributes: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Close:
    """An end tag."""

    name: str


Token = Text | Open | Close


def tokens(html: str) -> Iterator[Token]:
    """In the order of the page. Comments, declarations and what has no end are left out.

    After the tokenizer of the HTML standard, in linear time; raises nothing.
    """
    place = 0
    while place < len(html):
        mark = html.find("<", place)
        if mark < 0:
            yield Text(text=html[place:])
            return
        if mark > place:
            yield Text(text=html[place:mark])
        token, place = _markup(html, mark)
        if token is None:
            continue
        yield token
        if isinstance(token, Open) and token.name in RAW:
            end = _raw_end(html, place, token.name)
            yield Text(text=html[place:end], raw=token.name)
            place = end


def _markup(html: str, mark: int) -> tuple[Token | None, int]:
    """What begins at ``<``, and where it ends."""
    following = html[mark + 1 : mark + 2]
    if following == "!" and html.startswith("<!--", mark):
        return None, _after(html, "-->", mark + 2)
    if following in ("!", "?"):
        return None, _after(html, ">", mark)
    if following == "/":
        name = _NAME.match(html, mark + 2)
        end = _after(html, ">", mark)
        return (Close(name=name[0].lower()) if name else None), end
    name = _NAME.match(html, mark + 1)
    if name is None:
        return Text(text="<"), mark + 1
    return _start_tag(html, name[0].lower(), name.end())


def _start_tag(html: str, name: str, place: int) -> tuple[Token | None, int]:
    attributes: dict[str, str] = {}
    while True:
        match = _ATTRIBUTE.match(html, place)
        if match is None:
            place = _blank(html, place)
            if html[place : place + 1] == ">":
                return Open(name=name, attributes=attributes), place + 1
            if place >= len(html):
                return None, place  # the page ends within the tag: browsers drop it
            place += 1
            continue
        value, place = _value(html, match.end()) if match[2] else ("", match.end())
        if len(attributes) < MAX_ATTRIBUTES:
            attributes.setdefault(match[1].lower(), value)


def _value(html: str, place: int) -> tuple[str, int]:
    quote = html[place : place + 1]
    if quote in ('"', "'") and quote:
        end = html.find(quote, place + 1)
        return (html[place + 1 : end], end + 1) if end >= 0 else ("", len(html))
    match = _BARE.match(html, place)
    return (match[0], match.end()) if match else ("", place)


def _blank(html: str, place: int) -> int:
    match = _BLANK.match(html, place)
    return match.end() if match else place


def _after(html: str, end: str, place: int) -> int:
    found = html.find(end, place)
    return found + len(end) if found >= 0 else len(html)


def _raw_end(html: str, place: int, name: str) -> int:
    if name == "plaintext":
        return len(html)
    match = _end_tag(name).search(html, place)
    return match.start() if match else len(html)


def _end_tag(name: str) -> re.Pattern[str]:
    return re.compile(rf"</{name}(?=[\s/>])", re.IGNORECASE)
