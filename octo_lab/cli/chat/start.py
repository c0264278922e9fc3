"""Starts the screen in a place, and says how it ended."""

from __future__ import annotations

import sys
from contextlib import AbstractAsyncContextManager
from functools import partial
from pathlib import Path

from octo_lab.cli.chat.app import ChatApp
from octo_lab.cli.connect import (
    conversation_in,
    gateway_again,
    place_around,
    usual_iterations,
)
from octo_lab.cli.conversation import Conversation
from octo_lab.cli.outcome import Outcome
from octo_lab.cli.run import CHAT
from octo_lab.cli.trust import asked_at_start
from octo_lab.core.errors import UsageError
from octo_lab.core.mail import AskOptions
from octo_lab.gateway.find import find_gateway


def chat(*, model: str | None, session: str | None, workspace: Path | None) -> Outcome:
    """Until the person leaves; raises an OctoError when nobody can answer."""
    if not (sys.stdin.isatty() and sys.stdout.isatty()):
        raise UsageError("octo chat needs a terminal", hint='for a script: octo run "question"')
    place = asked_at_start(place_around(workspace))
    opened = conversation_in(place, CHAT)

    def opening() -> AbstractAsyncContextManager[Conversation]:
        return opened

    app = ChatApp(
        opening,
        AskOptions(model=model, iterations=usual_iterations(place)),
        session=session or "",
        reopening=partial(gateway_again, place, CHAT) if find_gateway(place.data_folder) else None,
    )
    return app.run() or Outcome()
