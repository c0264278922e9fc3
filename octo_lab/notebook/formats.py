"""What ``-f`` makes of a turn: the bundles that stand in the cell."""

from __future__ import annotations

import base64
import re
from collections.abc import Mapping

import nh3

from octo_lab.core.messages import Media
from octo_lab.core.text import clean
from octo_lab.core.turns import ToolBlock, TurnSnapshot
from octo_lab.notebook.render import Bundle, render_turn

FENCE = re.compile(r"^(`{3,}|~{3,})[ \t]*(\w*)[^\n]*\n(.*?)^\1[ \t]*$", re.S | re.M)
_KEPT: Mapping[str, tuple[str, ...]] = {
    "text": ("text/plain",),
    "markdown": ("text/plain", "text/markdown"),
}
SHAPED = (*_KEPT, "html", "image")


def unfenced(text: str) -> str:
    """What stands in the first fenced block, else the text itself."""
    match = FENCE.search(text)
    return match[3] if match else text


def pictures(turn: TurnSnapshot) -> list[Media]:
    """The pictures that tools gave."""
    given = [media for b in turn.blocks if isinstance(b, ToolBlock) for media in b.media]
    return [media for media in given if media.mime.startswith("image/")]


def shaped(turn: TurnSnapshot, form: str, *, headless: bool) -> list[Bundle]:
    """The turn in its format, at least one bundle; a running or failed one is shown as usual."""
    whole = render_turn(turn, headless=headless)
    if form in _KEPT:
        return [{mime: text for mime, text in whole.items() if mime in _KEPT[form]}]
    if turn.state != "completed":
        return [whole]
    if form == "html":
        return [{"text/plain": clean(turn.text), "text/html": nh3.clean(unfenced(turn.text))}]
    return [_picture(media) for media in pictures(turn)] or [whole]


def _picture(media: Media) -> Bundle:
    text = media.mime == "image/svg+xml"
    data = media.data.decode(errors="replace") if text else base64.b64encode(media.data).decode()
    return {"text/plain": f"[{media.name or media.mime}]", media.mime: data}
