"""How an answer ends when it is none, in the words of all dialects."""

from __future__ import annotations

from octo_lab.core.errors import ContentFiltered, StreamCut
from octo_lab.llm.errors import shown
from octo_lab.llm.secret import Secret

_ASK_OTHERWISE = "ask in another way"


def cut_short(name: str) -> StreamCut:
    """The stream ended before its terminal event."""
    return StreamCut(f"The answer of {name!r} ended before it was whole", hint="ask again")


def filtered(name: str, why: str = "its filter objects") -> ContentFiltered:
    """The vendor's filter stopped it."""
    return ContentFiltered(f"{name!r} stopped the answer: {why}", hint=_ASK_OTHERWISE)


def refused(name: str, said: str, key: Secret | None) -> ContentFiltered:
    """The model or its vendor would not answer; ``said`` is why, or ''."""
    why = shown(said, key)
    told = f"{name!r} refused to answer"
    return ContentFiltered(f"{told}: {why}" if why else told, hint=_ASK_OTHERWISE)
