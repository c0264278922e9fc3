"""Asks the person whether a tool may run."""

from __future__ import annotations

import time
from typing import ClassVar

from textual import events
from textual.message import Message
from textual.widgets import Static

from octo_lab.cli.printer import printable
from octo_lab.core.events import Decision
from octo_lab.core.turns import ToolBlock

_DECISIONS: dict[str, Decision] = {
    "once": "once",
    "session": "session",
    "always": "always",
    "deny": "deny",
}
QUIET = 0.5  # a key that follows others at once is typing, not an answer


class ApprovalBar(Static, can_focus=True):
    """Shows what would run; y allows it once, s for the session, a always, n denies."""

    BINDINGS: ClassVar = [
        ("y", "decide('once')", "Once"),
        ("s", "decide('session')", "This session"),
        ("a", "decide('always')", "Always"),
        ("n", "decide('deny')", "Deny"),
    ]

    class Decided(Message):
        """The person has answered."""

        def __init__(self, approval_id: str, decision: Decision) -> None:
            super().__init__()
            self.approval_id = approval_id
            self.decision = decision

    class Asked(Message):
        """A question is on the screen; the screen decides whether it takes the focus."""

        def __init__(self, bar: ApprovalBar) -> None:
            super().__init__()
            self.bar = bar

    class Typed(Message):
        """The person goes on writing."""

        def __init__(self, text: str) -> None:
            super().__init__()
            self.text = text

    def __init__(self, block: ToolBlock) -> None:
        keys = "y once · s this session · a always · n deny · Tab comes here"
        detail = printable("\n".join(filter(None, [block.detail, block.risk])))
        super().__init__(f"{detail}\n{keys}", classes="approval", markup=False)
        self._approval_id = block.approval_id
        self._quiet_since = float("inf")

    def on_mount(self) -> None:
        self.post_message(self.Asked(self))

    def on_focus(self) -> None:
        self._quiet_since = time.monotonic()

    def on_key(self, event: events.Key) -> None:
        """Text that was meant for the prompt goes there."""
        if event.is_printable and event.character and event.key not in {"y", "s", "a", "n"}:
            event.stop()
            self.post_message(self.Typed(event.character))

    def action_decide(self, decision: str) -> None:
        quiet = time.monotonic() - self._quiet_since
        self._quiet_since = time.monotonic()
        if quiet >= QUIET:
            self.post_message(self.Decided(self._approval_id, _DECISIONS[decision]))
