"""What one dialog may use in all its turns: rounds of tools, and calls of each tool."""

from __future__ import annotations

from collections import Counter, OrderedDict
from collections.abc import Mapping
from dataclasses import dataclass, field
from fnmatch import fnmatchcase

_REMEMBERED = 1000


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionLimits:
    """``turns`` a dialog may have, ``rounds`` of tool calls (None: any number), ``calls`` of the
    tools of a name or pattern.
    """

    turns: int | None = None
    rounds: int | None = None
    calls: Mapping[str, int] = field(default_factory=dict)

    @property
    def counts(self) -> bool:
        """Whether rounds or calls are limited."""
        return self.rounds is not None or bool(self.calls)


class SessionUsage:
    """Counts what one dialog has used, against ``limits``."""

    def __init__(
        self,
        limits: SessionLimits = SessionLimits(),
        rounds: int = 0,
        calls: Mapping[str, int] | None = None,
    ) -> None:
        self.limits = limits
        self._rounds = rounds
        self._calls: Counter[str] = Counter(calls or {})

    def begin_round(self) -> str:
        """Count one more round of calls; why none of them may run, or ''."""
        most = self.limits.rounds
        if most is not None and self._rounds >= most:
            return f"this session has had its {most} rounds of tool calls"
        self._rounds += 1
        return ""

    def begin_call(self, tool: str) -> str:
        """Count one more call; why it may not run, or ''."""
        for pattern, most in self.limits.calls.items():
            if fnmatchcase(tool, pattern) and self._made(pattern) >= most:
                return f"this session has had its {most} calls of {pattern!r}"
        self._calls[tool] += 1
        return ""

    def denied(self, tool: str) -> None:
        """A call that was counted did not run."""
        self._calls[tool] -= 1

    def _made(self, pattern: str) -> int:
        return sum(n for tool, n in self._calls.items() if fnmatchcase(tool, pattern))


class SessionUsages:
    """The usage of the dialogs that were talked in last."""

    def __init__(self, limits: SessionLimits = SessionLimits()) -> None:
        self.limits = limits
        self._usages: OrderedDict[str, SessionUsage] = OrderedDict()

    def knows(self, session: str) -> bool:
        return session in self._usages

    def remember(self, session: str, rounds: int, calls: Mapping[str, int]) -> None:
        """What a dialog had used before anything was counted here."""
        self._usages.setdefault(session, SessionUsage(rounds=rounds, calls=calls))

    def of(self, session: str) -> SessionUsage:
        """The usage of a dialog, under the limits that hold now."""
        usage = self._usages.setdefault(session, SessionUsage())
        usage.limits = self.limits
        self._usages.move_to_end(session)
        if len(self._usages) > _REMEMBERED:
            self._usages.popitem(last=False)
        return usage
