"""Moves ``<think>…</think>`` out of the text, also when the tags come in pieces."""

from __future__ import annotations

from octo_lab.core.stream import ReasoningDelta, TextDelta

OPEN, CLOSE = "<think>", "</think>"


class ThinkFilter:
    """Feed it text; it tells what is answer and what is thinking.

    A tag inside code (after an odd number of backticks) is text. Without a closing tag the rest
    is thinking. White space between the thinking and the answer is dropped.
    """

    def __init__(self) -> None:
        self._held = ""
        self._thinking = False
        self._ticks = 0
        self._trim = False

    def feed(self, text: str) -> list[TextDelta | ReasoningDelta]:
        if "<" not in text and not self._held and not self._thinking and not self._trim:
            self._ticks += text.count("`")
            return [TextDelta(text)]
        out: list[TextDelta | ReasoningDelta] = []
        self._split(self._held + text, out)
        return out

    def close(self) -> list[TextDelta | ReasoningDelta]:
        """What was held back because it might have been a tag."""
        out: list[TextDelta | ReasoningDelta] = []
        self._say(self._held, out)
        self._held = ""
        return out

    def _split(self, text: str, out: list[TextDelta | ReasoningDelta]) -> None:
        self._held = ""
        said = seen = at = 0
        while (at := text.find("<", seen)) >= 0:
            self._count(text, seen, at)
            tag = CLOSE if self._thinking else OPEN
            piece = text[at : at + len(tag)]
            seen = at + 1
            if not tag.startswith(piece) or self._in_code:
                continue
            self._say(text[said:at], out)
            said = seen = at + len(piece)
            if piece == tag:
                self._thinking = not self._thinking
                self._trim = not self._thinking
            else:
                self._held = piece
        self._count(text, seen, len(text))
        self._say(text[said:], out)

    def _count(self, text: str, start: int, end: int) -> None:
        if not self._thinking:
            self._ticks += text.count("`", start, end)

    @property
    def _in_code(self) -> bool:
        return not self._thinking and self._ticks % 2 == 1

    def _say(self, text: str, out: list[TextDelta | ReasoningDelta]) -> None:
        if self._trim:
            text = text.lstrip()
            self._trim = not text
        if text:
            out.append(ReasoningDelta(text) if self._thinking else TextDelta(text))
