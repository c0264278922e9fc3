"""The variables of this process, for the faces that start a runtime."""

from __future__ import annotations

import os


def process_environ() -> dict[str, str]:
    """A copy: what is read later does not change under the reader."""
    return dict(os.environ)
