"""Sends what a person said where it belongs: a command runs here, a question to its dialog."""

from __future__ import annotations

import logging
from dataclasses import dataclass

from octo_lab.core.errors import OctoError, Rejected
from octo_lab.core.mail import InboundMessage
from octo_lab.core.replies import Told
from octo_lab.session.abort import abort_reply
from octo_lab.session.commands import Commands, is_command
from octo_lab.session.dialogs import Dialogs
from octo_lab.session.parts import Job
from octo_lab.session.worker import FAILED, Tell, Workers, rejected

NOTHING = Told(text="There is nothing to ask", failed=True, hint="write a prompt, or `/help`")

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class Router:
    """Handles inbound messages; of one chat in order, except the urgent ones."""

    dialogs: Dialogs
    workers: Workers
    commands: Commands
    tell: Tell

    def urgent(self, message: InboundMessage) -> bool:
        """Whether the message must not wait for earlier ones of its chat."""
        if message.task is not None:
            return False
        if abort_reply(message.text):
            return True
        return self.commands.bypasses(message.text, message.address.channel)

    def refuse(self, message: InboundMessage, exc: Rejected) -> None:
        self.tell(message, rejected(exc))

    async def handle(self, message: InboundMessage) -> None:
        """Act on one message; whatever goes wrong is told to its sender."""
        try:
            await self._handle(message)
        except OctoError as exc:
            self.tell(message, Told(text=exc.message, failed=True, hint=exc.hint))
        except Exception:
            logger.exception("message %s failed", message.id)
            self.tell(message, FAILED)

    async def _handle(self, message: InboundMessage) -> None:
        stopping = abort_reply(message.text)
        if message.task is not None and message.text.strip():
            await self._ask(message)
        elif stopping:
            told = await self._run("/stop", message)
            self.tell(message, told if told.failed else Told(text=stopping))
        elif is_command(message.text):
            self.tell(message, await self._run(message.text, message))
        elif message.text.strip() or message.attachments:
            await self._ask(message)
        else:
            self.tell(message, NOTHING)

    async def _run(self, line: str, message: InboundMessage) -> Told:
        session = message.options.session or ""
        return await self.commands.run(line, message.address, message.sender_id, session)

    async def _ask(self, message: InboundMessage) -> None:
        name = message.options.session or ""
        session = await self.dialogs.meant_or_new(message.address, name)
        self.workers.submit(Job(message=message, session=session))
