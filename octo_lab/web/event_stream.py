"""One turn as server-sent events, as it happens."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import anyio
from anyio.abc import TaskGroup
from starlette.types import Message, Receive, Scope, Send

from octo_lab.bus.events import Watched, Watching
from octo_lab.bus.ports import Door
from octo_lab.channels.answers import last_answer
from octo_lab.channels.inbox import Inbox
from octo_lab.channels.listeners import Listeners
from octo_lab.core.errors import OctoError
from octo_lab.core.frames import Json
from octo_lab.core.mail import ControlRequest, InboundMessage, Stop
from octo_lab.core.progress import Progress
from octo_lab.core.progress_forms import sse
from octo_lab.core.stream import TextDelta
from octo_lab.core.tasks import TaskComplete, TaskUpdate
from octo_lab.web.answer import Answer, answer_of, refusal

EVENT_STREAM = "text/event-stream"
KEEP_ALIVE = 15.0
_STILL_THERE = b": still there\n\n"
_LOST = "events were lost: they were not read fast enough"
_START: Message = {
    "type": "http.response.start",
    "status": 200,
    "headers": [
        (b"content-type", f"{EVENT_STREAM}; charset=utf-8".encode()),
        (b"cache-control", b"no-store"),
        (b"x-accel-buffering", b"no"),
    ],
}


@dataclass(slots=True, kw_only=True)
class EventStream:
    """An ASGI answer: asks, then tells the turn's progress, and last of all the whole answer.

    The client is the one who asked, so its turn is stopped when it goes away. What goes wrong
    before the turn is a plain JSON answer. After ``keep_alive`` silent seconds comes a comment.
    """

    door: Door
    listeners: Listeners
    message: InboundMessage
    keep_alive: float = KEEP_ALIVE
    _gone: bool = False

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        message = self.message
        with (
            self.listeners.listen(message.address.chat_id) as inbox,
            self.door.watch(message.address, message.id) as watching,
        ):
            try:
                await self.door.publish(message)
            except OctoError as exc:
                return await refusal(exc).response(scope, receive, send)
            await self._serve(inbox, watching, receive, send)
        if self._gone:
            stop = ControlRequest(address=message.address, control=Stop(message_id=message.id))
            await self.door.control(stop)
        return None

    async def _serve(self, inbox: Inbox, watching: Watching, receive: Receive, send: Send) -> None:
        await send(_START)
        answers: list[Answer] = []
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(self._until_gone, receive, tasks)
            tasks.start_soon(self._until_answered, inbox, watching, answers)
            await self._tell(watching, send)
            for answer in answers:
                await send(_body(_frame({"type": "other", "done": True, **answer.body})))
            await send({"type": "http.response.body", "body": b"", "more_body": False})
            tasks.cancel_scope.cancel()

    async def _until_gone(self, receive: Receive, tasks: TaskGroup) -> None:
        while (await receive())["type"] != "http.disconnect":
            pass
        self._gone = True
        tasks.cancel_scope.cancel()

    async def _until_answered(
        self, inbox: Inbox, watching: Watching, answers: list[Answer]
    ) -> None:
        answers.append(answer_of(await last_answer(inbox, self.message.id)))
        watching.close()

    async def _tell(self, watching: Watching, send: Send) -> None:
        progress = Progress()
        while True:
            taken: list[Watched] | None = None
            with anyio.move_on_after(self.keep_alive):
                taken = await watching.take()
            if taken is None:
                await send(_body(_STILL_THERE))
                continue
            if watching.missed:
                await send(_body(_frame({"type": "other", "error": _LOST})))
                return
            if not taken:
                return
            await send(_body(b"".join(_frames(taken, progress))))


def _frames(events: Iterable[Watched], progress: Progress) -> Iterator[bytes]:
    for event in _joined(events):
        if not isinstance(event, TaskUpdate | TaskComplete):
            yield from (_frame(sse(each)) for each in progress.feed(event))


def _joined(events: Iterable[Watched]) -> Iterator[Watched]:
    """Text that waits together goes together."""
    text: list[str] = []
    for event in events:
        if isinstance(event, TextDelta):
            text.append(event.text)
            continue
        if text:
            yield TextDelta("".join(text))
            text.clear()
        yield event
    if text:
        yield TextDelta("".join(text))


def _frame(data: Json) -> bytes:
    return f"data: {json.dumps(data, ensure_ascii=False)}\n\n".encode(errors="replace")


def _body(data: bytes) -> Message:
    return {"type": "http.response.body", "body": data, "more_body": True}
