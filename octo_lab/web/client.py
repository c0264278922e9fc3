"""A conversation with a gateway over its WebSocket."""

from __future__ import annotations

import json
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import asdict, dataclass, field

import anyio
from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import ConnectionClosed, InvalidHandshake, InvalidStatus

from octo_lab.channels.inbox import Heard, Inbox
from octo_lab.core.errors import DeliveryError
from octo_lab.core.frames import Json
from octo_lab.core.ids import new_id
from octo_lab.core.keys import ChatAddress
from octo_lab.core.mail import AskOptions, Control
from octo_lab.core.replies import ControlReply
from octo_lab.core.text import clean
from octo_lab.core.tool_mail import LONGEST_CALL, CallTool
from octo_lab.core.turns import TurnSnapshot
from octo_lab.core.wire import control_json
from octo_lab.security.redact import Redactor
from octo_lab.web.decode import patched, read_message, read_reply, read_turn
from octo_lab.web.endpoint import Endpoint
from octo_lab.web.rest import CHANNEL
from octo_lab.web.server import MAX_FRAME

MAX_RECEIVED = 64 * 1024 * 1024
REPLY_WITHIN = 30.0
AGAIN = "the gateway may have stopped; start it with 'octo gateway', or try again"


@dataclass(slots=True)
class _Pending:
    arrived: anyio.Event = field(default_factory=anyio.Event)
    reply: ControlReply | None = None


class RemoteConversation:
    """Satisfies ``cli.conversation.Conversation``. Raises DeliveryError when the line is cut."""

    def __init__(self, socket: ClientConnection, endpoint: Endpoint, chat_id: str) -> None:
        self.place = f"gateway {endpoint.authority} (process {endpoint.pid})"
        self._socket = socket
        self._address = ChatAddress(channel=CHANNEL, chat_id=chat_id)
        self._inbox = Inbox()
        self._turns: dict[str, TurnSnapshot] = {}
        self._pending: dict[str, _Pending] = {}
        self._cut: DeliveryError | None = None

    async def ask(self, text: str, options: AskOptions) -> str:
        id_ = new_id()
        defaults = asdict(AskOptions())
        chosen = {name: v for name, v in asdict(options).items() if v != defaults[name]}
        await self._send({"type": "ask", "id": id_, "text": text, "options": chosen})
        return id_

    async def control(self, control: Control) -> ControlReply:
        id_, pending = new_id(), _Pending()
        self._pending[id_] = pending
        try:
            await self._send({"type": "control", "id": id_, **control_json(control)})
            with anyio.move_on_after(_patience(control)):
                await pending.arrived.wait()
        finally:
            del self._pending[id_]
        if pending.reply is None:
            raise self._cut or DeliveryError("The gateway does not answer", hint=AGAIN)
        return pending.reply

    async def heard(self) -> AsyncIterator[Heard]:
        """Everything this chat hears, latest snapshots first come; ends with DeliveryError."""
        while not self._inbox.ended:
            for heard in await self._inbox.take():
                yield heard
        raise self._cut or DeliveryError("Too much arrived at once", hint="connect again")

    async def receive(self) -> None:
        """Read until the line is cut; run by the one who opened the conversation."""
        try:
            async for data in self._socket:
                await self._take(json.loads(data))
        except ConnectionClosed:
            pass  # said below, as every other end of the line
        self._cut = DeliveryError("The connection to the gateway was cut", hint=AGAIN)
        self._inbox.close()
        for pending in self._pending.values():
            pending.arrived.set()

    async def _take(self, frame: Json) -> None:
        match frame["type"]:
            case "turn":
                self._show(read_turn(frame["turn"]))
            case "patch":
                await self._patch(frame)
            case "message":
                self._inbox.put(read_message(frame, self._address))
            case "reply" if frame["id"] in self._pending:
                pending = self._pending[frame["id"]]
                pending.reply = read_reply(frame["reply"])
                pending.arrived.set()

    async def _patch(self, frame: Json) -> None:
        base = self._turns.get(frame["turn_id"])
        turn = patched(base, frame) if base is not None else None
        if turn is None:
            await self._send({"type": "sync"})
        else:
            self._show(turn)

    def _show(self, turn: TurnSnapshot) -> None:
        self._turns.pop(turn.turn_id, None)
        if not turn.terminal:
            self._turns[turn.turn_id] = turn
        self._inbox.put(turn)

    async def _send(self, frame: Json) -> None:
        data = clean(json.dumps(frame, ensure_ascii=False))
        if len(data.encode()) > MAX_FRAME:
            raise DeliveryError("The prompt is too long", hint=f"at most {MAX_FRAME >> 20} MB")
        try:
            await self._socket.send(data)
        except ConnectionClosed:
            raise DeliveryError("The connection to the gateway was cut", hint=AGAIN) from None


def _patience(control: Control) -> float:
    """A tool may run for long; everything else is answered at once."""
    return REPLY_WITHIN + (LONGEST_CALL if isinstance(control, CallTool) else 0)


@asynccontextmanager
async def open_remote(endpoint: Endpoint, chat_id: str) -> AsyncGenerator[RemoteConversation]:
    """Talk in one chat of a gateway; raises DeliveryError when it cannot be reached."""
    socket = await _connected(endpoint, chat_id)
    conversation = RemoteConversation(socket, endpoint, chat_id)
    try:
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(conversation.receive)
            yield conversation
            tasks.cancel_scope.cancel()
    finally:
        with anyio.CancelScope(shield=True):
            await socket.close()


async def _connected(endpoint: Endpoint, chat_id: str) -> ClientConnection:
    url = f"ws://{endpoint.authority}/ws?chat={chat_id}"
    headers = {"Authorization": f"Bearer {endpoint.token}"}
    try:
        return await connect(
            url,
            additional_headers=headers,
            max_size=MAX_RECEIVED,
            compression=None,
            proxy=None,
            close_timeout=1,
        )
    except InvalidStatus as exc:
        status = exc.response.status_code
        raise DeliveryError(f"The gateway refused ({status})", hint=AGAIN) from None
    except (OSError, TimeoutError, InvalidHandshake) as exc:
        where, reason = endpoint.authority, Redactor([endpoint.token])(str(exc))
        raise DeliveryError(f"No gateway answers at {where}: {reason}", hint=AGAIN) from None
