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


class SessionUsage:
    """Counts what one dialog has used, against ``limits``."""

    def __init__(self, limits: SessionLimits = SessionLimits()) -> None:
        self.limits = limits
        self._rounds = 0
        self._calls: Counter[str] = Counter()

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
            if fnmatchcase(tool, pattern) and self._calls[pattern] >= most:
                return f"this session has had its {most} calls of {pattern!r}"
        self._calls.update(p for p in self.limits.calls if fnmatchcase(tool, p))
        return ""


class SessionUsages:
    """The usage of the dialogs that were talked in last, since octo_lab runs."""

    def __init__(self, limits: SessionLimits = SessionLimits()) -> None:
        self.limits = limits
        self._usages: OrderedDict[str, SessionUsage] = OrderedDict()

    def of(self, session: str) -> SessionUsage:
        """The usage of a dialog, under the limits that hold now."""
        usage = self._usages.setdefault(session, SessionUsage())
        usage.limits = self.limits
        self._usages.move_to_end(session)
        if len(self._usages) > _REMEMBERED:
            self._usages.popitem(last=False)
        return usage
