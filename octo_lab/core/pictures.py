"""Which kind of picture some bytes are: told from how they begin, never from a file's name."""

from __future__ import annotations

_BEGINNINGS = (
    (b"\x89PNG\r\n\x1a\n", "image/png"),
    (b"\xff\xd8\xff", "image/jpeg"),
    (b"GIF87a", "image/gif"),
    (b"GIF89a", "image/gif"),
)


def picture_type(data: bytes) -> str:
    """Its media type, '' for anything that is no PNG, JPEG, GIF or WebP."""
    if data[:4] == b"RIFF" and data[8:12] == b"WEBP":
        return "image/webp"
    return next((mime for start, mime in _BEGINNINGS if data.startswith(start)), "")
