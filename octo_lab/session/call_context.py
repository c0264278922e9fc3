"""What a call may know: the same for those of agents and of persons."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass

from octo_lab.core.events import Emit, ToolProgressed
from octo_lab.core.keys import ChatAddress
from octo_lab.core.messages import ToolCall
from octo_lab.security.taint import Taint
from octo_lab.session.ask import AskPolicy
from octo_lab.tools.changes import Changes
from octo_lab.tools.screen import Screen
from octo_lab.tools.tool import ToolContext


@dataclass(frozen=True, slots=True, kw_only=True)
class CallContexts:
    """Satisfies ``MakeContext`` for the calls of one turn. ``session`` is its key."""

    policy: AskPolicy
    address: ChatAddress
    session: str
    turn_id: str
    changes: Changes
    taint: Taint
    screen: Screen

    def __call__(self, call: ToolCall, emit: Emit) -> ToolContext:
        return ToolContext(
            workspace=self.policy.workspace,
            private=self.policy.private,
            roots=self.policy.roots,
            soft=self.policy.soft,
            channel=self.address.channel,
            chat_id=self.address.chat_id,
            session=self.session,
            turn_id=self.turn_id,
            call_id=call.id,
            report=_reporter(emit, call.id),
            changes=self.changes,
            taint=self.taint,
            screen=self.screen,
        )


def _reporter(emit: Emit, call_id: str) -> Callable[[str], None]:
    """Progress of one call, from whatever thread its tool runs in."""
    loop, home = asyncio.get_running_loop(), threading.get_ident()

    def report(text: str) -> None:
        event = ToolProgressed(call_id, text)
        if threading.get_ident() == home:
            emit(event)
            return
        with suppress(RuntimeError):  # an abandoned thread may outlive the loop
            loop.call_soon_threadsafe(emit, event)

    return report
