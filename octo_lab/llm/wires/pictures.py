"""Which media can be sent as pictures, and their bytes as text."""

from __future__ import annotations

import base64

from octo_lab.core.messages import Media

# What OpenAI and Anthropic take.
PICTURES = frozenset({"image/png", "image/jpeg", "image/gif", "image/webp"})


def can_show(media: Media, *, vision: bool, kinds: frozenset[str] = PICTURES) -> bool:
    """Whether a model with ``vision`` can be sent it: a stored file may be gone, then its data
    are empty.
    """
    return bool(media.data) and media.mime in kinds and vision


def in_base64(media: Media) -> str:
    return base64.b64encode(media.data).decode()


def data_url(media: Media) -> str:
    return f"data:{media.mime};base64,{in_base64(media)}"
