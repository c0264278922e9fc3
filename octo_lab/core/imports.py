"""Imports of ours find what is installed, not a file beside the notebook that has its name."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import ModuleType

from octo_lab.core.errors import ConfigError

_OURS = Path(__file__).parents[2]


@contextmanager
def installed_ones() -> Iterator[None]:
    """While it lasts the current folder is not searched. Raises ConfigError, which names the file,
    when one from there was imported before in the place of a library.
    """
    here = Path.cwd()
    left_out = [(at, path) for at, path in enumerate(sys.path) if _is_beside(path, here)]
    sys.path[:] = [path for path in sys.path if not _is_beside(path, here)]
    try:
        yield
    except (ImportError, AttributeError) as exc:
        if file := _in_its_place(exc, here):
            hint = f"rename {file.name!r} and restart the kernel"
            raise ConfigError(f"{str(file)!r} stands in the place of a library", hint=hint) from exc
        raise
    finally:
        for at, path in left_out:
            sys.path.insert(at, path)


def _is_beside(path: str, here: Path) -> bool:
    return Path(path or here) == here != _OURS


def _in_its_place(exc: ImportError | AttributeError, here: Path) -> Path | None:
    """The file of the module that did not have what was wanted, if it lies here."""
    if isinstance(exc, ImportError):
        module = sys.modules.get((exc.name or "").partition(".")[0])
    else:
        module = exc.obj if isinstance(exc.obj, ModuleType) else None
    file = Path(getattr(module, "__file__", None) or "")
    return file if here in (file.parent, file.parent.parent) else None
