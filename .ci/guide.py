"""Executes a notebook in place and keeps what it shows, without what tells of this machine."""

from __future__ import annotations

import sys
from pathlib import Path

import nbformat
from nbclient import NotebookClient


def execute(path: Path) -> None:
    notebook = nbformat.read(path, as_version=4)
    place = {"metadata": {"path": str(path.parent)}}
    client = NotebookClient(
        notebook, kernel_name="octo", timeout=120, record_timing=False, resources=place
    )
    client.execute()
    notebook.metadata["language_info"] = {"name": "python"}
    nbformat.write(notebook, path)


execute(Path(sys.argv[1]))
