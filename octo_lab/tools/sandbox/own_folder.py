"""No command makes the folder from which octo_lab would take its settings."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from uuid import uuid4

from octo_lab.tools.sandbox.sight import OWN


@contextmanager
def keep_out(workspace: Path) -> Iterator[list[str]]:
    """An existing one is hidden by the sandbox; one that appears meanwhile gets another name,
    which a note tells.
    """
    own, notes = workspace / OWN, list[str]()
    had = os.path.lexists(own)
    try:
        yield notes
    finally:
        if not had and os.path.lexists(own):
            other = own.with_name(f"octo-made-by-a-command-{uuid4().hex[:8]}")
            own.rename(other)
            notes.append(f"{OWN!r} is octo_lab's own folder; what was made is {other.name!r} now.")
