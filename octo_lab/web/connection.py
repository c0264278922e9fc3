"""One client on one WebSocket: asks and controls in, frames out."""

from __future__ import annotations

import json

import anyio
from anyio.abc import TaskGroup
from starlette.websockets import WebSocket, WebSocketDisconnect

from octo_lab.bus.ports import Door
from octo_lab.channels.inbox import Heard, Inbox
from octo_lab.channels.listeners import Listeners
from octo_lab.core.errors import OctoError, Rejected, UsageError
from octo_lab.core.frames import Json, patch_frame, turn_frame
from octo_lab.core.keys import ChatAddress
from octo_lab.core.mail import ControlRequest, InboundMessage
from octo_lab.core.replies import Told
from octo_lab.core.text import clean
from octo_lab.core.turns import TurnSnapshot
from octo_lab.core.wire import decode_control, decode_options, message_frame, reply_json
from octo_lab.web.incoming import read_object

PROTOCOL = 1
CONTROLS = 16
TRY_AGAIN_LATER = 1013


class Connection:
    """Speaks the protocol of ``core/wire.py``; remembers which snapshot the client has.

    Beside asks and controls a client may send ``{"type": "sync"}``: it has missed something
    and gets the running turns of its chat whole.
    """

    def __init__(self, socket: WebSocket, door: Door, address: ChatAddress) -> None:
        self._socket = socket
        self._door = door
        self._address = address
        self._shown: dict[str, TurnSnapshot] = {}
        self._sending = anyio.Lock()
        self._controls = anyio.Semaphore(CONTROLS)

    async def serve(self, listeners: Listeners) -> None:
        """Until the client goes away, or is too slow to be told everything."""
        with listeners.listen(self._address.chat_id) as inbox:
            await self._send({"type": "hello", "protocol": PROTOCOL, "chat": self._address.chat_id})
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(self._tell, inbox, tasks)
                await self._hear(listeners, tasks)
                tasks.cancel_scope.cancel()

    async def _tell(self, inbox: Inbox, tasks: TaskGroup) -> None:
        try:
            while not inbox.ended:
                for heard in await inbox.take():
                    await self._send(self._frame(heard))
            await self._socket.close(TRY_AGAIN_LATER, "too slow")
        except (WebSocketDisconnect, RuntimeError):
            tasks.cancel_scope.cancel()  # closed while sending: starlette raises either

    def _frame(self, heard: Heard) -> Json:
        if not isinstance(heard, TurnSnapshot):
            return message_frame(heard)
        base = self._shown.pop(heard.turn_id, None)
        if not heard.terminal:
            self._shown[heard.turn_id] = heard
        return turn_frame(heard) if base is None else patch_frame(base, heard)

    async def _send(self, frame: Json) -> None:
        async with self._sending:
            await self._socket.send_text(json.dumps(frame, ensure_ascii=False))

    async def _hear(self, listeners: Listeners, tasks: TaskGroup) -> None:
        while True:
            try:
                await self._obey(await self._frame_heard(), listeners, tasks)
            except WebSocketDisconnect:
                return
            except OctoError as exc:
                await self._send(_failed("", exc))

    async def _frame_heard(self) -> Json:
        try:
            text = await self._socket.receive_text()
        except KeyError:  # a binary message
            text = ""
        return read_object(text, what="The message", hint="send one JSON object per message")

    async def _obey(self, frame: Json, listeners: Listeners, tasks: TaskGroup) -> None:
        match frame:
            case {"type": "ask", "id": str(id_), "text": str(text)}:
                await self._ask(id_, text, frame.get("options") or {})
            case {"type": "control", "id": str(id_), "name": str(name)}:
                self._begin_control(id_, name, frame.get("args") or {}, tasks)
            case {"type": "sync"}:
                await self._sync(listeners)
            case _:
                raise UsageError("Not a frame of this protocol", hint="see octo_lab/core/wire.py")

    async def _ask(self, id_: str, text: str, options: Json) -> None:
        try:
            message = InboundMessage(
                address=self._address,
                sender_id=self._address.chat_id,
                text=clean(text),
                id=id_,
                options=decode_options(options),
            )
            await self._door.publish(message)
        except OctoError as exc:
            await self._send(_failed(id_, exc))

    def _begin_control(self, id_: str, name: str, args: Json, tasks: TaskGroup) -> None:
        try:
            self._controls.acquire_nowait()
        except anyio.WouldBlock:
            raise Rejected("Too many controls at once", hint="wait for a reply first") from None
        tasks.start_soon(self._control, id_, name, args)

    async def _control(self, id_: str, name: str, args: Json) -> None:
        try:
            control = decode_control(name, args)
            request = ControlRequest(address=self._address, control=control)
            reply = reply_json(await self._door.control(request))
        except OctoError as exc:
            reply = reply_json(Told(text=exc.message, failed=True, hint=exc.hint))
        finally:
            self._controls.release()
        await self._send({"type": "reply", "id": id_, "reply": reply})

    async def _sync(self, listeners: Listeners) -> None:
        for turn in listeners.running(self._address.chat_id):
            self._shown[turn.turn_id] = turn
            await self._send(turn_frame(turn))


def _failed(id_: str, exc: OctoError) -> Json:
    return {
        "type": "message",
        "id": "",
        "text": exc.message,
        "reply_to": id_,
        "failed": True,
        "hint": exc.hint,
    }
