"""A message on its way to its turn."""

from __future__ import annotations

from dataclasses import dataclass

from octo_lab.core.mail import InboundMessage
from octo_lab.storage.sessions import SessionRow


@dataclass(frozen=True, slots=True, kw_only=True)
class Job:
    """A message on its way to the dialog that will answer it.

    Of several that are answered together, ``message`` is all of them, under the id of the first;
    ``others`` are those that it took in. ``shortened``: it gives them in a line each.
    """

    message: InboundMessage
    session: SessionRow
    others: tuple[InboundMessage, ...] = ()
    shortened: bool = False

    @property
    def messages(self) -> tuple[InboundMessage, ...]:
        """Each that waits for what becomes of it, the first first."""
        return (self.message, *self.others)

    @property
    def also(self) -> tuple[str, ...]:
        """The ids of the others."""
        return tuple(other.id for other in self.others)
