"""Identifiers: UUIDv7, so that they sort by time of birth (RFC 9562 §5.7)."""

from __future__ import annotations

import uuid_utils


def new_id() -> str:
    """A new UUIDv7 in its canonical text form (36 characters, lower case)."""
    return str(uuid_utils.uuid7())
