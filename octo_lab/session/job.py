"""A message on its way to its turn."""

from __future__ import annotations

from dataclasses import dataclass

from octo_lab.core.mail import InboundMessage
from octo_lab.storage.sessions import SessionRow


@dataclass(frozen=True, slots=True, kw_only=True)
class Job:
    """A message on its way to the dialog that will answer it."""

    message: InboundMessage
    session: SessionRow
