"""What the policy says of one call."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import reduce
from typing import Literal

Ruling = Literal["allow", "ask", "deny"]

_ORDER: tuple[Ruling, ...] = ("allow", "ask", "deny")


@dataclass(frozen=True, slots=True)
class Verdict:
    """A decision and, in words, what it rests on."""

    decision: Ruling
    reason: str

    def or_worse(self, other: Verdict) -> Verdict:
        """The stricter of the two; of equals, this one."""
        return other if _ORDER.index(other.decision) > _ORDER.index(self.decision) else self


def strictest(verdicts: Iterable[Verdict], start: Verdict) -> Verdict:
    return reduce(Verdict.or_worse, verdicts, start)
