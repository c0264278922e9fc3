"""``%load_ext octo_lab``: the magics in any IPython kernel; loading twice is harmless."""

from __future__ import annotations

from typing import Any

from octo_lab.notebook.completion import install_completion, remove_completion
from octo_lab.notebook.loading_cell import read_the_rest_anew
from octo_lab.notebook.magics import OctoMagics, OctoShell
from octo_lab.notebook.transforms import MAGIC, install_transforms, remove_transforms

MAGICS = (
    ("line", MAGIC),
    ("cell", MAGIC),
    ("cell", "octo_tool"),
    ("line", "octo_gateway"),
    ("line", "octo_record"),
    ("line", "octo_replay"),
)


def load_ipython_extension(shell: Any) -> None:
    """Register the magics, the input transforms and the completion. Prints nothing."""
    if not isinstance(getattr(shell, "octo", None), OctoShell):
        shell.octo = OctoShell(shell)
    if not hasattr(shell, "_last_traceback"):
        shell._last_traceback = None  # ipykernel loses a cell whose first error is a UsageError
    shell.register_magics(OctoMagics)
    install_transforms(shell)
    read_the_rest_anew(shell)
    install_completion(shell)


def unload_ipython_extension(shell: Any) -> None:
    """Take everything back and close the runtime."""
    remove_transforms(shell)
    remove_completion(shell)
    for kind, name in MAGICS:
        shell.magics_manager.magics[kind].pop(name, None)
    octo = shell.__dict__.pop("octo", None)
    if octo is not None and octo.started:
        octo.started.close()
