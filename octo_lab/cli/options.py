"""What several commands take."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

Workspace = Annotated[
    Path | None,
    typer.Option("--workspace", "-C", metavar="DIR", help="Work there, not in this folder."),
]
Json = Annotated[bool, typer.Option("--json", help="Print JSON.")]
