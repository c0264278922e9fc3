"""A file that was sent to a person, as the output of a cell: a picture, or a link to save it."""

from __future__ import annotations

import base64
from html import escape
from typing import Any

from octo_lab.core.messages import Media

PICTURES = frozenset({"image/png", "image/jpeg", "image/gif", "image/webp"})


def file_bundle(media: Media, text: str) -> dict[str, Any]:
    """By MIME type. Nothing in the file runs: what is no picture is only saved."""
    data = base64.b64encode(media.data).decode()
    name = escape(media.name or "file", quote=True)
    if media.mime in PICTURES:
        shown = f'<img src="data:{media.mime};base64,{data}" alt="{name}" style="max-width:100%">'
    else:
        link = f"data:application/octet-stream;base64,{data}"
        shown = f'<a href="{link}" download="{name}">{name}</a> ({len(media.data):,} bytes)'
    return {"text/html": f"<p>{escape(text)}</p>{shown}", "text/plain": text}
