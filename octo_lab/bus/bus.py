"""Three bounded queues between the faces and the sessions: the one door in, the one door out."""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from typing import TypeVar

import anyio
from anyio.streams.memory import MemoryObjectReceiveStream, MemoryObjectSendStream

from octo_lab.bus.events import EventBus, Watching
from octo_lab.core.errors import DeliveryError, OctoError, Rejected
from octo_lab.core.keys import ChatAddress
from octo_lab.core.mail import ControlRequest, InboundMessage, OutboundMessage
from octo_lab.core.replies import ControlReply, Told
from octo_lab.core.tool_mail import LONGEST_CALL, CallTool

T = TypeVar("T")
Answer = Callable[[ControlRequest], Awaitable[ControlReply]]
CLOSING = Told(text="octo_lab is closing", failed=True, hint="start it again, then repeat this")

logger = logging.getLogger(__name__)


@dataclass(slots=True, kw_only=True)
class Parcel:
    """An outbound message on its way; ``settled`` once the channel took it or failed."""

    message: OutboundMessage
    settled: anyio.Event = field(default_factory=anyio.Event)
    error: DeliveryError | None = None

    def settle(self, error: DeliveryError | None = None) -> None:
        self.error = error
        self.settled.set()


@dataclass(slots=True, kw_only=True)
class _Asked:
    request: ControlRequest
    scope: anyio.CancelScope = field(default_factory=anyio.CancelScope)
    answered: anyio.Event = field(default_factory=anyio.Event)
    reply: ControlReply = CLOSING

    def answer(self, reply: ControlReply) -> None:
        self.reply = reply
        self.answered.set()


class Bus:
    """Carries messages; interprets none of them. Satisfies ``Door``."""

    def __init__(self, *, size: int = 256, controls: int = 64, deadline: float = 60.0) -> None:
        self._inbound, self.inbound = _stream(InboundMessage, size)
        self._outbound, self.outbound = _stream(Parcel, size)
        self._controls, self._asked = _stream(_Asked, size)
        self._slots = anyio.Semaphore(controls)
        self._deadline = deadline
        self.events = EventBus()

    async def publish(self, message: InboundMessage) -> None:
        """Hand in what a person said; raises Rejected."""
        _offer(self._inbound, message)

    def send(self, message: OutboundMessage) -> Parcel:
        """Queue a message for its channel, which is not yet its delivery; raises Rejected."""
        parcel = Parcel(message=message)
        _offer(self._outbound, parcel)
        return parcel

    async def deliver(self, message: OutboundMessage, *, timeout: float = 120.0) -> None:  # noqa: ASYNC109 - a deadline is part of the port
        """Send and wait for the channel's answer; raises Rejected or DeliveryError."""
        parcel = self.send(message)
        with anyio.move_on_after(timeout) as scope:
            await parcel.settled.wait()
        if scope.cancelled_caught:
            raise DeliveryError(
                f"{message.address.channel!r} took no message within {timeout:.0f} s"
            )
        if parcel.error is not None:
            raise parcel.error

    async def control(self, request: ControlRequest) -> ControlReply:
        """Ask for something now; never behind a turn. Raises Rejected.

        A tool that is called ends when nobody waits for it any more.
        """
        asked = _Asked(request=request)
        _offer(self._controls, asked)
        try:
            await asked.answered.wait()
        finally:
            if isinstance(request.control, CallTool):
                asked.scope.cancel()
        return asked.reply

    def watch(self, address: ChatAddress, message_id: str) -> AbstractContextManager[Watching]:
        """Watch what the turn of a message does."""
        return self.events.watch(address, message_id)

    async def serve_controls(self, answer: Answer) -> None:
        """Answer each control once, at most 64 side by side, until cancelled."""
        try:
            async with anyio.create_task_group() as tasks:
                while True:
                    await self._slots.acquire()
                    asked = await self._asked.receive()
                    tasks.start_soon(self._answer, asked, answer)
        finally:
            self._refuse_controls()

    async def _answer(self, asked: _Asked, answer: Answer) -> None:
        reply: ControlReply = CLOSING
        try:
            with asked.scope:
                reply = await self._reply(asked.request, answer)
        finally:
            self._slots.release()
            asked.answer(reply)

    async def _reply(self, request: ControlRequest, answer: Answer) -> ControlReply:
        seconds = LONGEST_CALL if isinstance(request.control, CallTool) else self._deadline
        try:
            with anyio.fail_after(seconds):
                return await answer(request)
        except OctoError as exc:
            return Told(text=exc.message, failed=True, hint=exc.hint)
        except TimeoutError:
            return Told(text=f"No answer within {seconds:.0f} s", failed=True)
        except Exception:
            logger.exception("control %s failed", type(request.control).__name__)
            return Told(
                text="This failed inside octo_lab",
                failed=True,
                hint="see the log in the data folder",
            )

    def _refuse_controls(self) -> None:
        self._controls.close()
        while self._asked.statistics().current_buffer_used:
            self._asked.receive_nowait().answer(CLOSING)
        self._asked.close()

    def close_intake(self) -> None:
        """Take no more messages from people; what is on its way goes on."""
        self._inbound.close()

    def close(self) -> None:
        """Close every door: from now on everything is Rejected."""
        for sender in (self._inbound, self._outbound, self._controls):
            sender.close()
        for receiver in (self.inbound, self.outbound, self._asked):
            receiver.close()


def _stream(
    kind: type[T], size: int
) -> tuple[MemoryObjectSendStream[T], MemoryObjectReceiveStream[T]]:
    return anyio.create_memory_object_stream(size)


def _offer(stream: MemoryObjectSendStream[T], item: T) -> None:
    try:
        stream.send_nowait(item)
    except anyio.WouldBlock:
        raise Rejected("octo_lab is busy: its queue is full", hint="try again shortly") from None
    except (anyio.ClosedResourceError, anyio.BrokenResourceError):
        raise Rejected(CLOSING.text, hint=CLOSING.hint) from None
