"""Installs the kernelspec, so that Jupyter and VS Code list the Octo kernel."""

from __future__ import annotations

import json
import shutil
import sys
import sysconfig
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from octo_lab.core.errors import UsageError

NAME = "octo"
FILES = ("logo-svg.svg", "logo-32x32.png", "logo-64x64.png")


def install_kernelspec(
    *, user: bool = False, prefix: str | None = None, name: str = NAME, display_name: str = ""
) -> Path:
    """Write the kernelspec and return its folder.

    It goes below ``prefix``, into the ``user``'s folder, or (neither given) the running
    environment; it names this interpreter by its full path, so that a Jupyter of another
    environment can start it. Raises UsageError for a name or a place that cannot be used.
    """
    from jupyter_client.kernelspec import KernelSpecManager  # heavy, and used by one command

    with TemporaryDirectory() as folder:
        source = _write(Path(folder), name, display_name)
        try:
            path = KernelSpecManager().install_kernel_spec(
                str(source), name, user=user, prefix=None if user else prefix or sys.prefix
            )
        except ValueError as exc:
            raise UsageError(str(exc), hint="use letters, digits, '-', '_' and '.'") from None
        except OSError as exc:
            raise UsageError(
                f"Cannot write the kernelspec: {exc.strerror}: {exc.filename!r}",
                hint="choose another place with --user or --prefix",
            ) from None
    return Path(path)


def _write(folder: Path, name: str, display_name: str) -> Path:
    spec = kernel_json()
    if display_name or name != NAME:
        spec["display_name"] = display_name or f"Octo (Python 3: {name})"
    (folder / "kernel.json").write_text(json.dumps(spec, indent=1) + "\n", encoding="utf-8")
    for file in FILES:
        shutil.copyfile(_shipped() / file, folder / file)
    return folder


def kernel_json() -> dict[str, Any]:
    """The shipped kernelspec with this interpreter in the place of ``python``."""
    spec: dict[str, Any] = json.loads((_shipped() / "kernel.json").read_text(encoding="utf-8"))
    spec["argv"] = [sys.executable, *spec["argv"][1:]]
    return spec


def _shipped() -> Path:
    """The folder with the kernelspec: in the source tree, or where pip put it."""
    source = Path(__file__).parents[2] / "kernels" / NAME
    return source if source.is_dir() else _installed()


def _installed() -> Path:
    return Path(sysconfig.get_path("data")) / "share" / "jupyter" / "kernels" / NAME
