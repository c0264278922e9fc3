"""Picks from what a chat hears the answer to one message."""

from __future__ import annotations

from octo_lab.channels.inbox import Heard, Inbox
from octo_lab.core.turns import TurnSnapshot


def answers(heard: Heard, message_id: str) -> bool:
    if isinstance(heard, TurnSnapshot):
        return heard.message_id == message_id
    return heard.reply_to == message_id


def ends(heard: Heard) -> bool:
    """Whether nothing more comes: a turn's last snapshot, or a message in place of a turn."""
    return heard.terminal if isinstance(heard, TurnSnapshot) else True


async def last_answer(inbox: Inbox, message_id: str) -> Heard | None:
    """What finally answered a message; None when the inbox ended before."""
    while not inbox.ended:
        for heard in await inbox.take():
            if answers(heard, message_id) and ends(heard):
                return heard
    return None
