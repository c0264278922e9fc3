"""Writes a ``multipart/form-data`` body (RFC 7578): fields, then one file."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True, kw_only=True)
class Form:
    """``content_type`` names the boundary that ``body`` has."""

    content_type: str
    body: bytes = field(repr=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class FormFile:
    """A file as it is sent."""

    name: str
    mime: str
    data: bytes = field(repr=False)


def form(fields: Mapping[str, str], file: FormFile) -> Form:
    """The same content gives the same bytes; the boundary is in no part of it."""
    parts = [_part(f'name="{_quoted(name)}"', "", value.encode()) for name, value in fields.items()]
    parts.append(_part(f'name="file"; filename="{_quoted(file.name)}"', file.mime, file.data))
    boundary = _boundary(parts)
    start = f"--{boundary}\r\n".encode()
    body = b"".join([*(start + part for part in parts), f"--{boundary}--\r\n".encode()])
    return Form(content_type=f"multipart/form-data; boundary={boundary}", body=body)


def _part(disposition: str, mime: str, data: bytes) -> bytes:
    kind = f"Content-Type: {mime}\r\n" if mime else ""
    return f"Content-Disposition: form-data; {disposition}\r\n{kind}\r\n".encode() + data + b"\r\n"


def _boundary(parts: list[bytes]) -> str:
    number = 0
    while True:
        mark = hashlib.sha256(b"".join(parts) + str(number).encode()).hexdigest()[:32]
        if not any(mark.encode() in part for part in parts):
            return mark
        number += 1


def _quoted(text: str) -> str:
    """As browsers write names: quotes and line ends are percent-encoded."""
    return text.replace('"', "%22").replace("\r", "%0D").replace("\n", "%0A")
