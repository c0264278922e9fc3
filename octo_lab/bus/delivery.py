"""Shows a turn on its channel: the newest snapshot wins, the last one always arrives."""

from __future__ import annotations

import logging
from dataclasses import dataclass, replace
from functools import partial

import anyio

from octo_lab.bus.attempts import SendPolicy, attempt, once
from octo_lab.bus.bus import Bus
from octo_lab.bus.channels import Channels
from octo_lab.bus.latest import Latest
from octo_lab.bus.ports import LiveChannel, Presentation, TurnSink
from octo_lab.core.errors import DeliveryError, Rejected
from octo_lab.core.mail import InboundMessage, OutboundMessage
from octo_lab.core.turns import Block, ReasoningBlock, ToolBlock, TurnSnapshot

ABORT_SECONDS = 5.0

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class Delivery:
    """Carries snapshots from a turn to the sink its channel opens for it.

    A slow channel skips snapshots; it never slows the turn. A terminal snapshot that the sink
    does not take goes out once more as a plain message.
    """

    bus: Bus
    channels: Channels
    policy: SendPolicy = SendPolicy()

    async def show(self, origin: InboundMessage, turn: Latest[TurnSnapshot]) -> None:
        """Follow ``turn`` to its end and deliver it; returns when the channel has it, or never
        will.
        """
        try:
            channel = self.channels.live(origin.address.channel)
            if channel is not None:
                await self._show_live(channel, origin, turn)
            else:
                await turn.ended()
                await self._send(origin, turn.get())
        except (DeliveryError, Rejected) as exc:
            logger.warning("turn of message %s was not delivered: %s", origin.id, exc)

    async def _show_live(
        self, channel: LiveChannel, origin: InboundMessage, turn: Latest[TurnSnapshot]
    ) -> None:
        live = _Live(channel, origin, turn, self)
        try:
            await live.follow()
            await live.finish()
        except DeliveryError as exc:
            logger.info("message %s falls back to plain text: %s", origin.id, exc)
            await turn.ended()
            await self._send(origin, turn.get())
        finally:
            await live.close()

    async def _send(self, origin: InboundMessage, turn: TurnSnapshot) -> None:
        error = turn.error
        await self.bus.deliver(
            OutboundMessage(
                address=origin.address,
                text=plain_text(turn),
                reply_to=origin.id,
                failed=turn.state == "failed",
                hint=error.hint if error else "",
                private=origin.private,
            )
        )


class _Live:
    """One turn on one live channel, from the first snapshot to ``finish`` or ``abort``."""

    def __init__(
        self,
        channel: LiveChannel,
        origin: InboundMessage,
        turn: Latest[TurnSnapshot],
        delivery: Delivery,
    ) -> None:
        self._channel = channel
        self._address = origin.address
        self._turn = turn
        self._delivery = delivery
        self._sink: TurnSink | None = None
        self._finished = False

    async def follow(self) -> None:
        """Show the running turn at the channel's pace until it has ended."""
        interval = self._channel.live.interval
        if interval is None:
            return await self._turn.ended()
        seen = -1
        while not self._turn.over:
            seen = await self._turn.newer(seen)
            await self._update()
            with anyio.move_on_after(interval):
                await self._turn.ended()
        return None

    async def _update(self) -> None:
        snapshot = self._view()
        if snapshot.terminal:
            return
        try:
            await once(partial(self._write_update, snapshot), self._delivery.policy.timeout)
        except DeliveryError as exc:
            logger.info("an update was not shown: %s", exc)

    async def finish(self) -> None:
        """Show the terminal snapshot; raises DeliveryError."""
        await attempt(self._write_finish, self._delivery.policy)
        self._finished = True

    async def close(self) -> None:
        """Let the sink clean up unless it has finished."""
        sink = self._sink
        if sink is None or self._finished:
            return
        with anyio.CancelScope(shield=True):
            try:
                await once(sink.abort, ABORT_SECONDS)
            except DeliveryError as exc:
                logger.info("a sink did not clean up: %s", exc)

    async def _write_update(self, snapshot: TurnSnapshot) -> None:
        async with self._delivery.channels.writing(self._address):
            await (await self._opened(snapshot)).update(snapshot)

    async def _write_finish(self) -> None:
        snapshot = self._view()
        async with self._delivery.channels.writing(self._address):
            await (await self._opened(snapshot)).finish(snapshot)

    async def _opened(self, snapshot: TurnSnapshot) -> TurnSink:
        if self._sink is None:
            self._sink = await self._channel.open_turn(self._address, snapshot)
        return self._sink

    def _view(self) -> TurnSnapshot:
        return presented(self._turn.get(), self._channel.presentation)


def presented(turn: TurnSnapshot, presentation: Presentation) -> TurnSnapshot:
    """The turn with what its channel may not see taken out."""
    if presentation.reasoning and presentation.tool_detail:
        return turn
    blocks = tuple(
        _compact(block, presentation)
        for block in turn.blocks
        if presentation.reasoning or not isinstance(block, ReasoningBlock)
    )
    return replace(turn, blocks=blocks)


def _compact(block: Block, presentation: Presentation) -> Block:
    """A tool block without arguments and output; an open question keeps its detail."""
    if presentation.tool_detail or not isinstance(block, ToolBlock):
        return block
    return replace(block, arguments="", output="", media=())


def plain_text(turn: TurnSnapshot) -> str:
    """The whole turn as one message for a channel that shows text alone."""
    parts = [turn.text] if turn.text else []
    if turn.error:
        parts.append(turn.error.message)
    elif turn.state != "completed":
        parts.append(f"[{turn.state}]")
    return "\n\n".join(parts)
