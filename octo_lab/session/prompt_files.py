"""What the owner wrote for the agent: who it is, who they are, how the project works."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from pathlib import Path, PurePath

import anyio

from octo_lab.agent.prompt import LayerName
from octo_lab.core.errors import ToolFailed
from octo_lab.core.text import truncate_utf8
from octo_lab.security.paths import Enclosure
from octo_lab.security.private_names import PrivateNames

LARGEST = 65_536
# The first of each that exists is read; all are in the workspace.
FILES: Mapping[LayerName, tuple[str, ...]] = {
    "persona": (".octo/persona.md",),
    "user": (".octo/user.md",),
    "project": ("AGENTS.md", "CLAUDE.md"),
}
OWN: frozenset[LayerName] = frozenset({"persona", "user"})
Mark = tuple[int, int, int]


class PromptFiles:
    """Reads them anew only when they have changed. What cannot be read is as good as absent.

    ``known``: the person made or trusts the workspace; else nothing in it speaks in their name.
    """

    def __init__(self, workspace: Path, *, known: bool = True) -> None:
        self.known = known
        self._workspace = workspace
        self._places = {
            layer: tuple(workspace / name for name in names) for layer, names in FILES.items()
        }
        self._known: dict[Path, tuple[Mark, str]] = {}

    async def texts(self) -> dict[LayerName, str]:
        """The layers that have a file; each text is at most 64 KB."""
        return await anyio.to_thread.run_sync(self.read)

    def read(self) -> dict[LayerName, str]:
        """The same, for who is in a thread already."""
        places = ((one, it) for one, it in self._places.items() if self.known or one not in OWN)
        found = ((layer, self._first(paths)) for layer, paths in places)
        return {layer: text for layer, text in found if text}

    def _first(self, paths: Iterable[Path]) -> str:
        return next(filter(None, map(self._read, paths)), "")

    def _read(self, path: Path) -> str:
        try:
            path.stat()  # what is absent costs this alone, not a look at each folder above it
            name, status = _inside(self._workspace, path)
            mark = (status.st_mtime_ns, status.st_size, status.st_ino)
            known = self._known.get(path)
            if known is None or known[0] != mark:
                known = self._known[path] = (mark, _text_of(self._workspace, name))
        except (OSError, ToolFailed):
            self._known.pop(path, None)
            return ""
        return known[1]


def _inside(workspace: Path, path: Path) -> tuple[str, os.stat_result]:
    """Its real name below the workspace; raises ToolFailed for a link that leads to what a model
    was never meant to see: a repository may hold links of anybody's making.
    """
    real = path.resolve(strict=True)
    root = workspace.resolve()
    if not real.is_relative_to(root) or (
        real != root / path.relative_to(workspace)
        and (PrivateNames().in_text(str(real.relative_to(root))))
    ):
        raise ToolFailed(f"{path.name!r} leads elsewhere")
    return str(real.relative_to(root)), real.stat()


def _text_of(workspace: Path, name: str) -> str:
    """Nothing of what is no regular file: a pipe would never end."""
    with Enclosure(root=workspace.resolve(), private=()).open_file(name) as file:
        data = file.read(LARGEST + 1)
    text = data.decode("utf-8-sig", "replace")
    return truncate_utf8(text, LARGEST, f"\n[{PurePath(name).name} is cut at 64 KB]")
