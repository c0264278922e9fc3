"""The plain HTTP face: health, one question with one answer, status."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator

from starlette.requests import ClientDisconnect, Request
from starlette.responses import JSONResponse, Response
from starlette.types import ASGIApp

from octo_lab.bus.ports import Door
from octo_lab.channels.answers import last_answer
from octo_lab.channels.inbox import Heard
from octo_lab.channels.listeners import Listeners
from octo_lab.core.errors import OctoError, UsageError
from octo_lab.core.frames import Json
from octo_lab.core.keys import ChatAddress
from octo_lab.core.mail import ControlRequest, GetStatus, InboundMessage
from octo_lab.core.text import clean
from octo_lab.core.wire import decode_options, reply_json
from octo_lab.web.answer import answer_of, refusal
from octo_lab.web.event_stream import EVENT_STREAM, EventStream
from octo_lab.web.incoming import read_object

CHANNEL = "web"
MAX_BODY = 1_000_000
_CHAT = re.compile(r"[A-Za-z0-9._-]{1,64}")


def chat_address(chat_id: str) -> ChatAddress:
    """The address of a client's chat; raises UsageError."""
    if not _CHAT.fullmatch(chat_id):
        raise UsageError(
            f"{chat_id[:80]!r} is no chat name", hint="1 to 64 letters, digits, dots, - and _"
        )
    return ChatAddress(channel=CHANNEL, chat_id=chat_id)


class Rest:
    """``POST /api/chat`` takes ``message`` and, if wanted, ``chat`` and ``options``.

    A client that accepts ``text/event-stream``, or posts to ``/api/chat/stream``, is told how the
    turn goes while it runs.
    """

    def __init__(self, door: Door, listeners: Listeners) -> None:
        self._door = door
        self._listeners = listeners

    async def health(self, request: Request) -> Response:
        return JSONResponse({"status": "ok"})

    async def status(self, request: Request) -> Response:
        try:
            address = chat_address(request.query_params.get("chat", "main"))
            reply = await self._door.control(ControlRequest(address=address, control=GetStatus()))
        except OctoError as exc:
            return refusal(exc).response
        return JSONResponse(reply_json(reply))

    async def chat(self, request: Request) -> ASGIApp:
        if EVENT_STREAM in request.headers.get("accept", ""):
            return await self.stream(request)
        try:
            message = _message(await _body(request.stream()))
            heard = await self._answer(message)
        except OctoError as exc:
            return refusal(exc).response
        return answer_of(heard).response

    async def stream(self, request: Request) -> ASGIApp:
        try:
            message = _message(await _body(request.stream()))
        except OctoError as exc:
            return refusal(exc).response
        return EventStream(door=self._door, listeners=self._listeners, message=message)

    async def _answer(self, message: InboundMessage) -> Heard | None:
        with self._listeners.listen(message.address.chat_id) as inbox:
            await self._door.publish(message)
            return await last_answer(inbox, message.id)


async def _body(stream: AsyncIterator[bytes]) -> Json:
    body = bytearray()
    try:
        async for chunk in stream:
            body += chunk
            if len(body) > MAX_BODY:
                raise UsageError("The body is too long", hint=f"at most {MAX_BODY} bytes")
    except ClientDisconnect:
        raise UsageError("The client went away before the body was whole") from None
    return read_object(bytes(body), what="The body", hint='send {"message": "your question"}')


def _message(data: Json) -> InboundMessage:
    text, chat, options = data.get("message"), data.get("chat", "main"), data.get("options", {})
    if not (isinstance(text, str) and isinstance(chat, str) and isinstance(options, dict)):
        raise UsageError("No message", hint='send {"message": "your question"}')
    return InboundMessage(
        address=chat_address(chat),
        sender_id=chat,
        text=clean(text),
        options=decode_options({"headless": True, **options}),
    )
