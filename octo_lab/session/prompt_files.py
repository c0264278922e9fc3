"""What the owner wrote for the agent: who it is, who they are, how the project works."""

from __future__ import annotations

import os
import stat
from collections.abc import Mapping
from pathlib import Path

import anyio

from octo_lab.agent.prompt import LayerName
from octo_lab.core.text import truncate_utf8

LARGEST = 65_536
# The first of each that exists is read; all are in the workspace.
FILES: Mapping[LayerName, tuple[str, ...]] = {
    "persona": (".octo/persona.md",),
    "user": (".octo/user.md",),
    "project": ("AGENTS.md", "CLAUDE.md"),
}
Mark = tuple[int, int, int]


class PromptFiles:
    """Reads them anew only when they have changed. What cannot be read is as good as absent."""

    def __init__(self, workspace: Path) -> None:
        self._workspace = workspace
        self._known: dict[Path, tuple[Mark, str]] = {}

    async def texts(self) -> dict[LayerName, str]:
        """The layers that have a file; each text is at most 64 KB."""
        return await anyio.to_thread.run_sync(self._texts)

    def _texts(self) -> dict[LayerName, str]:
        found = ((layer, self._first(names)) for layer, names in FILES.items())
        return {layer: text for layer, text in found if text}

    def _first(self, names: tuple[str, ...]) -> str:
        texts = (self._read(self._workspace / name) for name in names)
        return next(filter(None, texts), "")

    def _read(self, path: Path) -> str:
        try:
            status = path.stat()
            mark = (status.st_mtime_ns, status.st_size, status.st_ino)
            known = self._known.get(path)
            if known is None or known[0] != mark:
                known = self._known[path] = (mark, _text_of(path))
        except OSError:
            self._known.pop(path, None)
            return ""
        return known[1]


def _text_of(path: Path) -> str:
    """Nothing of what is no regular file: a pipe would never end."""
    descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    with os.fdopen(descriptor, "rb") as file:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            return ""
        data = file.read(LARGEST + 1)
    text = data.decode("utf-8-sig", "replace")
    return truncate_utf8(text, LARGEST, f"\n[{path.name} is cut at 64 KB]")
