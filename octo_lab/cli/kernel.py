"""``octo kernel install``: puts the kernelspec where Jupyter finds it."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path

from octo_lab.core.errors import UsageError
from octo_lab.notebook.kernelspec import install_kernelspec


def install_kernel(places: Sequence[str], *, prefix: Path | None, name: str) -> None:
    """Install into the one place chosen, or the running environment; raises UsageError."""
    if len(places) > 1:
        raise UsageError(f"Choose one of {', '.join(places)}", hint="the kernel goes to one place")
    path = install_kernelspec(
        user="--user" in places, prefix=str(prefix) if prefix else None, name=name
    )
    sys.stdout.write(f"installed {name} in {path}\n")
