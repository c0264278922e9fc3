"""Joins an answer that was cut with its continuation, so that nothing is said twice."""

from __future__ import annotations

_SHORTEST = 12
_LONGEST = 200

GO_ON = (
    "Your answer was cut at its length limit. Go on exactly where it stopped: repeat nothing, "
    "announce nothing, and do not say that you go on."
)
CUT_CALL = (
    "Error: Not run: your answer was cut at its length limit inside this call. Make it again with "
    "less at once, in several calls if need be."
)


class Joint:
    """Takes the beginning of a continuation away as far as it repeats the end before it."""

    def __init__(self, before: str) -> None:
        self._before = before[-_LONGEST:]
        self._begun: list[str] | None = []

    def feed(self, text: str) -> str:
        """What of the text is new; nothing while that is not known yet."""
        if self._begun is None:
            return text
        self._begun.append(text)
        return self.end() if sum(map(len, self._begun)) >= _LONGEST else ""

    def end(self) -> str:
        """What was held back, without what is repeated."""
        begun, self._begun = "".join(self._begun or ()), None
        sizes = range(min(len(begun), len(self._before)), _SHORTEST - 1, -1)
        same = next((size for size in sizes if self._before.endswith(begun[:size])), 0)
        return begun[same:]
