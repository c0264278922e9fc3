"""``octo init``: makes a folder a workspace."""

from __future__ import annotations

import json
import sys
from pathlib import Path

from octo_lab.cli.connect import warned
from octo_lab.config.paths import FOLDER
from octo_lab.config.place import Place, find_place, trust_place
from octo_lab.config.process import process_environ, process_folder
from octo_lab.config.settings import VERSION
from octo_lab.core.errors import ConfigError

_FILES = {
    "config.json": json.dumps({"version": VERSION}, indent=2) + "\n",
    # what octo_lab keeps is private; what you configure is not
    ".gitignore": "*\n!.gitignore\n!config.json\n",
}


def init_workspace(workspace: Path | None) -> None:
    """Make ``.octo/`` with a config; what is there already stays as it is."""
    folder = workspace or process_folder()
    made = [name for name, text in _FILES.items() if _write(folder / FOLDER / name, text)]
    place = folder.resolve() / FOLDER
    said = f"made {', '.join(made)} in {place}" if made else f"{place} is there already"
    sys.stdout.write(f"{said}\n")
    _trusted(warned(find_place(folder, {**process_environ(), "OCTO_WORKSPACE": str(folder)})))


def _trusted(place: Place) -> None:
    """What octo_lab made itself needs no question; what else lies there does."""
    if not place.asked.left_out:
        trust_place(place)


def _write(path: Path, text: str) -> bool:
    if path.exists():
        return False
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("x", encoding="utf-8") as file:  # a link of a repository leads nowhere
            file.write(text)
    except OSError as exc:
        raise ConfigError(
            f"Cannot write {str(path)!r}: {exc.strerror}", hint="choose another folder with -C"
        ) from exc
    return True
