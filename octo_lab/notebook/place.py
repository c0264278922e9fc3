"""Where a call comes from: which notebook, which cell, and whether a person is there."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from IPython.core.interactiveshell import InteractiveShell


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """The running cell. ``cell`` is its id (``""``: unknown), ``request`` of this very run;
    ``front_end``: what was shown can be redrawn, which a terminal cannot.
    """

    cell: str
    request: str
    headless: bool
    front_end: bool = True


def current_place(shell: InteractiveShell, environ: Mapping[str, str]) -> Place:
    """Headless is what the request says (no stdin: papermill, nbconvert, nbval) or OCTO_MODE."""
    parent = _parent(shell)
    mode = environ.get("OCTO_MODE", "").lower()
    asked_headless = not parent.get("content", {}).get("allow_stdin", True)
    metadata = parent.get("metadata") or {}
    return Place(
        cell=str(metadata.get("cellId") or ""),
        request=str(parent.get("header", {}).get("msg_id", "")),
        front_end=hasattr(shell, "kernel"),
        headless=mode == "headless" or (asked_headless and mode != "interactive"),
    )


def this_run(shell: InteractiveShell) -> Callable[[], bool]:
    """Tells later whether the run of a cell that is under way now still is."""
    began = _run(shell)
    return lambda: _run(shell) == began


def _run(shell: InteractiveShell) -> tuple[str, int]:
    return str(_parent(shell).get("header", {}).get("msg_id", "")), shell.execution_count


def _parent(shell: InteractiveShell) -> dict[str, Any]:
    kernel = getattr(shell, "kernel", None)
    return dict(kernel.get_parent("shell") or {}) if kernel is not None else {}


def chat_id(shell: InteractiveShell, environ: Mapping[str, str], workspace: Path) -> str:
    """The notebook's path, relative to the workspace where it lies inside; it names the chat.

    Without a notebook: papermill's output file, else the kernel's connection file.
    """
    variables = shell.user_ns
    for path in (
        environ.get("JPY_SESSION_NAME"),
        variables.get("__vsc_ipynb_file__"),
        variables.get("PAPERMILL_OUTPUT_PATH"),
    ):
        if isinstance(path, str) and path:
            return _within(Path(path), workspace)
    kernel = getattr(shell, "kernel", None)
    file = getattr(getattr(kernel, "parent", None), "connection_file", "")
    return Path(file).stem if file else "ipython"


def folder(shell: InteractiveShell, environ: Mapping[str, str]) -> Path:
    """The folder the notebook lies in, else the process's."""
    name = environ.get("JPY_SESSION_NAME", "")
    path = Path(name) if name else Path()
    return path.parent if path.is_absolute() and path.parent.is_dir() else Path.cwd()


def _within(path: Path, workspace: Path) -> str:
    try:
        return path.resolve().relative_to(workspace.resolve()).as_posix()
    except (ValueError, OSError):
        return path.as_posix()
