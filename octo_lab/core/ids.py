"""Identifiers: UUIDv7, so that they sort by time of birth (RFC 9562 §5.7)."""

from __future__ import annotations

from collections.abc import Iterable

import uuid_utils

BIRTH = len("01234567-89ab")  # the milliseconds of a UUIDv7


def new_id() -> str:
    """A new UUIDv7 in its canonical text form (36 characters, lower case)."""
    return str(uuid_utils.uuid7())


def short_id(wanted: str, ids: Iterable[str]) -> str:
    """The shortest beginning of an id that names it alone, with its whole time of birth.

    A shorter one could name another, too, that is not among ``ids``.
    """
    known = list(ids)
    for length in range(BIRTH, len(wanted)):
        if sum(other.startswith(wanted[:length]) for other in known) == 1:
            return wanted[:length]
    return wanted
