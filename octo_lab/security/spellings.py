"""How a secret may be written: by programs, addresses and pages that hold it."""

from __future__ import annotations

import base64
import html
import json
import re
from collections.abc import Iterable, Iterator
from urllib.parse import quote, quote_plus

_LINE = 20  # characters by which a line alone tells a secret that has several
_PERCENT = re.compile(r"%[0-9A-F]{2}")
_FRAME = "-----"  # what begins and ends a key in a file


def spellings(secret: str) -> set[str]:
    """As it is and by its longer lines, in JSON, in an address, in a page, in hexadecimal, in
    base64, also as part of a longer text.
    """
    data = secret.encode(errors="replace")
    return {
        *(secret, *_lines(secret), *_in_json(secret), *_in_address(data)),
        *(html.escape(secret), html.escape(secret, quote=False)),
        *(data.hex(), data.hex().upper()),
        *_in_base64(data),
    }


def _lines(secret: str) -> Iterator[str]:
    """A file is shown with numbers before its lines, or some of them."""
    for line in secret.split("\n")[: 200 if "\n" in secret else 0]:
        text = line.strip()
        if len(text) >= _LINE and _FRAME not in text and not re.search(r"\s", text):
            yield text


def _in_json(secret: str) -> Iterable[str]:
    escaped = json.dumps(secret)[1:-1]
    return escaped, escaped.replace("/", "\\/")


def _in_address(data: bytes) -> Iterator[str]:
    for text in (quote(data, safe=""), quote(data), quote_plus(data)):
        yield text
        yield _PERCENT.sub(lambda found: found[0].lower(), text)


def _in_base64(data: bytes) -> Iterator[str]:
    """The characters that are the same whatever stands before and behind, and whole where nothing
    does.
    """
    for code in (base64.b64encode, base64.urlsafe_b64encode):
        yield code(data).decode().rstrip("=")
        for before in range(3):
            text = code(bytes(before) + data).decode().rstrip("=")
            shared = bool((before + len(data)) % 3)
            yield text[before + bool(before) : len(text) - shared]
