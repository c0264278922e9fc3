"""Reads what a text hides: encodings and spellings that a model undoes by itself."""

from __future__ import annotations

import base64
import binascii
import codecs
import html
import re
from collections.abc import Callable, Iterator
from itertools import islice
from urllib.parse import unquote

_MOST = 20
_LONGEST = 20_000

_BASE64 = re.compile(r"(?<![A-Za-z0-9+/_-])[A-Za-z0-9+/_-]{24,}={0,2}")
_HEX = re.compile(r"(?<![0-9A-Fa-f])(?:[0-9A-Fa-f]{2}[ :]?){16,}(?![0-9A-Fa-f])")
_BITS = re.compile(r"(?<![01])(?:[01]{8} ?){8,}(?![01])")
_MORSE = re.compile(
    r"(?:(?<=\s)|^)[.-]{1,6}(?: +(?:[.-]{1,6}|/))"
    r"{15,}"
)
_ESCAPED = re.compile(r"(?:\\u[0-9A-Fa-f]{4}|\\x[0-9A-Fa-f]{2}|[ -\[\]-~]){8,}")
_ESCAPE = re.compile(r"\\u([0-9A-Fa-f]{4})|\\x([0-9A-Fa-f]{2})")
_SPACED = re.compile(r"(?:(?<=\s)|^)\w(?:[ .\-_*]{1,2}\w){9,}(?=\W|$)")
_TAGS = re.compile("[\U000e0020-\U000e007e]{8,}")
_CODE = {
    ".-": "a", "-...": "b", "-.-.": "c", "-..": "d", ".": "e", "..-.": "f", "--.": "g",
    "....": "h", "..": "i", ".---": "j", "-.-": "k", ".-..": "l", "--": "m", "-.": "n",
    "---": "o", ".--.": "p", "--.-": "q", ".-.": "r", "...": "s", "-": "t", "..-": "u",
    "...-": "v", ".--": "w", "-..-": "x", "-.--": "y", "--..": "z", "/": " ", ".-.-.-": ".",
    "--..--": ",", ".--.-.": "@",
}  # fmt: skip
_LEET = str.maketrans("01345789@$!|", "oieastbgasii")
_ENGLISH = re.compile(r"(?i)\b(?:the|and|all|to|of|your|you|this)\b")


def hidden(text: str) -> Iterator[tuple[str, str]]:
    """Name and plain text of each disguise found; bounded, in number and in length."""
    for name, view in _VIEWS.items():
        for plain in islice(view(text), _MOST):
            if plain and plain != text:
                yield name, plain[:_LONGEST]


def _base64(text: str) -> Iterator[str]:
    for match in _BASE64.finditer(text):
        chunk = match[0][:_LONGEST].rstrip("=").replace("-", "+").replace("_", "/")
        if not chunk.isalpha() or not chunk.islower():
            yield _readable(_decoded(chunk[: len(chunk) - (len(chunk) % 4 == 1)]))


def _decoded(chunk: str) -> bytes:
    try:
        return base64.b64decode(chunk + "=" * (-len(chunk) % 4))
    except binascii.Error:
        return b""


def _hex(text: str) -> Iterator[str]:
    for match in _HEX.finditer(text):
        yield _readable(bytes.fromhex(re.sub(r"[ :]", "", match[0][:_LONGEST])))


def _bits(text: str) -> Iterator[str]:
    for match in _BITS.finditer(text):
        digits = match[0].replace(" ", "")[:_LONGEST]
        yield _readable(bytes(int(digits[i : i + 8], 2) for i in range(0, len(digits) - 7, 8)))


def _readable(data: bytes) -> str:
    """The text, or nothing when these bytes are no text."""
    try:
        text = data.decode()
    except UnicodeDecodeError:
        return ""
    return text if text.isprintable() or text.replace("\n", " ").isprintable() else ""


def _morse(text: str) -> Iterator[str]:
    for match in _MORSE.finditer(text):
        yield "".join(_CODE.get(sign, "") for sign in match[0][:_LONGEST].split())


def _escaped(text: str) -> Iterator[str]:
    if _ESCAPE.search(text):
        for match in _ESCAPED.finditer(text):
            if len(_ESCAPE.findall(match[0])) >= 8:
                yield _ESCAPE.sub(lambda m: chr(int(m[1] or m[2], 16)), match[0])


def _percent(text: str) -> Iterator[str]:
    if text.count("%") >= 4:
        yield unquote(text[:_LONGEST])


def _entities(text: str) -> Iterator[str]:
    if text.count("&#") >= 4:
        yield html.unescape(text[:_LONGEST])


def _rot13(text: str) -> Iterator[str]:
    plain = codecs.encode(text[:_LONGEST], "rot13")
    if _words(plain) > 2 * _words(text[:_LONGEST]):
        yield plain


def _reversed(text: str) -> Iterator[str]:
    plain = text[:_LONGEST][::-1]
    if _words(plain) > 2 * _words(text[:_LONGEST]):
        yield plain


def _words(text: str) -> int:
    return len(_ENGLISH.findall(text))


def _leet(text: str) -> Iterator[str]:
    if sum(map(text.count, "013457@$")) >= 4:
        yield text[:_LONGEST].translate(_LEET)


def _spaced(text: str) -> Iterator[str]:
    for match in _SPACED.finditer(text):
        words = re.split(r" {2}|[._*-]{2}", match[0][:_LONGEST])
        yield " ".join(re.sub(r"[ .\-_*]", "", word) for word in words)


def _tags(text: str) -> Iterator[str]:
    for match in _TAGS.finditer(text):
        yield "".join(chr(ord(char) - 0xE0000) for char in match[0])


_VIEWS: dict[str, Callable[[str], Iterator[str]]] = {
    "base64": _base64,
    "hexadecimal": _hex,
    "binary": _bits,
    "Morse code": _morse,
    "escapes": _escaped,
    "percent signs": _percent,
    "HTML entities": _entities,
    "ROT13": _rot13,
    "reversed letters": _reversed,
    "digits for letters": _leet,
    "spaced letters": _spaced,
    "unseen tag characters": _tags,
}
