"""What a session tells its model before the person's words, and nobody said."""

from __future__ import annotations

import re

_REMARKS = re.compile(r"\A(?:\[The person has [^\n]*\]\n+)+")


def person_has(done: str) -> str:
    """The remark that the person has ``done`` something; one line."""
    return f"[The person has {done}.]"


def without_remarks(text: str) -> str:
    """The person's own words."""
    return _REMARKS.sub("", text)
