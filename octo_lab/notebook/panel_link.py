"""Joins the panels to the runtime of this kernel."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Future
from typing import Any

import anyio.to_thread

from octo_lab.core.errors import OctoError
from octo_lab.core.mail import AskOptions, Control, InboundMessage, OutboundMessage
from octo_lab.notebook.host import SENDER, Runtime
from octo_lab.notebook.panels.backend import Answer, Hear


class PanelLink:
    """The backend a panel is given."""

    def __init__(self, runtime: Runtime) -> None:
        self._runtime = runtime

    def ask(self, text: str, options: AskOptions, *, message_id: str) -> None:
        message = InboundMessage(
            address=self._runtime.address,
            sender_id=SENDER,
            text=text,
            id=message_id,
            options=options,
        )
        self._runtime.submit(self._publish, message)

    async def _publish(self, message: InboundMessage) -> None:
        try:
            await self._runtime.publish(message)
        except OctoError as exc:
            refusal = OutboundMessage(
                address=message.address,
                text=exc.message,
                reply_to=message.id,
                failed=True,
                hint=exc.hint,
            )
            await self._runtime.channel.send(refusal)

    def control(self, control: Control, answer: Answer) -> None:
        def told(reply: Future[Any]) -> None:
            error = reply.exception()
            if error is None or isinstance(error, OctoError):
                answer(error or reply.result())

        self._runtime.control(control).add_done_callback(told)

    def listen(self, hear: Hear) -> Callable[[], None]:
        listening = self._runtime.submit(self._listen, hear)

        def end() -> None:
            listening.cancel()

        return end

    async def _listen(self, hear: Hear) -> None:
        while True:
            with self._runtime.channel.listeners.listen(self._runtime.address.chat_id) as inbox:
                while not inbox.overflown:
                    for heard in await inbox.take():
                        await anyio.to_thread.run_sync(hear, heard)
