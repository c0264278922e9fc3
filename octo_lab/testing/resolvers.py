"""Name servers of the tests: what they say is written down."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain, repeat


@dataclass(slots=True, kw_only=True)
class ScriptedResolver:
    """Gives the addresses of ``names``; an unknown name raises OSError. ``asked`` is in order."""

    names: Mapping[str, Sequence[str]]
    asked: list[str] = field(default_factory=list)

    async def __call__(self, host: str, port: int) -> Sequence[str]:
        self.asked.append(host)
        if host not in self.names:
            raise OSError(f"no such name: {host}")
        return self.names[host]


class FlippingResolver:
    """Gives each of ``answers`` once, then the last one for ever, whatever the name."""

    def __init__(self, *answers: Sequence[str]) -> None:
        self.asked: list[str] = []
        self._answers = chain(answers, repeat(answers[-1]))

    async def __call__(self, host: str, port: int) -> Sequence[str]:
        self.asked.append(host)
        return next(self._answers)
