"""What a turn may not give away: its screen, and what its conversation has seen."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from functools import partial

from octo_lab.core.mail import InboundMessage
from octo_lab.security.private_names import PrivateNames
from octo_lab.security.redact import Redactor, redactor
from octo_lab.security.taint import Taint
from octo_lab.storage.database import Database
from octo_lab.storage.history import Seen
from octo_lab.storage.turns import TurnRecord, TurnRow, mark_turn
from octo_lab.tools.screen import Screen


@dataclass(frozen=True, slots=True, kw_only=True)
class Privacy:
    """What the owner says: ``secrets`` are looked up anew for each turn, ``names`` are private,
    ``trusted`` hosts may be told all the same; ``reachable`` ones are asked for something unasked.
    """

    secrets: Iterable[str] = field(default=(), repr=False)
    names: PrivateNames = PrivateNames()
    trusted: tuple[str, ...] = ()
    reachable: tuple[str, ...] = ()
    shapes: bool = True

    @property
    def mask(self) -> Redactor:
        """Hides the secrets there are now, and with ``shapes`` what looks like one."""
        return redactor(tuple(self.secrets), shapes=self.shapes)

    def screen(
        self,
        notice: Callable[[str], None],
        alarms: Taint | None = None,
        mask: Callable[[str], str] | None = None,
    ) -> Screen:
        """The screen of one turn; ``alarms`` are those of its conversation."""
        return Screen(
            mask=mask or self.mask,
            private=self.names,
            trusted=self.trusted,
            reachable=self.reachable,
            notice=notice,
            alarms=alarms or Taint(),
        )

    def taint(
        self, past: Sequence[TurnRecord], message: InboundMessage, summed_up: Iterable[str] = ()
    ) -> Taint:
        """What the conversation has seen when it is asked ``message``; ``summed_up`` is what the
        turns before ``past`` had, of which the model knows a summary.
        """
        taint = Taint(*summed_up)
        for record in past:
            taint.mark_all(record.turn.taint)
        taint.mark_all(self.given(message))
        return taint

    def given(self, message: InboundMessage) -> Iterable[str]:
        """What private data a message of the person brings."""
        yield from message.taint
        mask = redactor(tuple(self.secrets))
        if mask(message.text) != message.text:
            yield "the message holds something that looks like a key"
        for item in message.attachments:
            if self.names.in_text(item.name) or mask(item.text) != item.text:
                yield f"{item.name!r} was attached"


def alarms_of(past: Sequence[TurnRecord], summed_up: Iterable[str] = ()) -> Taint:
    """Which texts in the turns before read like orders; ``summed_up`` are of those before these."""
    alarms = Taint(*summed_up)
    for record in past:
        alarms.mark_all(record.turn.alarms)
    return alarms


async def keep_seen(database: Database, turn: TurnRow, owner: str, seen: Seen) -> None:
    """Store it before the texts are stored: a turn that cannot is not kept either."""
    if seen != (turn.taint, turn.alarms):
        await database.run(partial(mark_turn, turn_id=turn.id, owner=owner, seen=seen))
