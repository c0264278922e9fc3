"""Looks for what a browser needs on this machine: playwright, Chromium, walls to put it in."""

from __future__ import annotations

import importlib.util
import os
import shutil
import subprocess
from dataclasses import dataclass, replace

from octo_lab.tools.browser.walls import TRIAL, walled_argv

PROGRAMS = (
    "chromium",
    "google-chrome",
    "google-chrome-stable",
    "chromium-browser",
    "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome",
    "/Applications/Chromium.app/Contents/MacOS/Chromium",
)
_TRIAL_SECONDS = 5.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """``missing`` says what to install; empty when all is there.

    ``walls`` is the program that shuts the browser in, '' where there is none. ``root``: Chromium's
    own sandbox does not work for whoever runs it, unless it is shut in.
    """

    program: str = ""
    walls: str = ""
    root: bool = False
    missing: str = ""


def find_browser(executable: str = "") -> Found:
    """Blocks: it looks at files. Whether the walls hold, ``sure`` finds out."""
    if importlib.util.find_spec("playwright") is None:
        return Found(missing="playwright is not installed: pip install 'octo_lab[browser]'")
    program = shutil.which(executable) if executable else _first()
    if not program:
        what = f"{executable!r} (browser.executable)" if executable else "Chromium or Chrome"
        return Found(missing=f"{what} was not found: install it, as with apt install chromium")
    root = hasattr(os, "getuid") and os.getuid() == 0
    return Found(program=program, walls=shutil.which("bwrap") or "", root=root)


def _first() -> str:
    return next(filter(None, map(shutil.which, PROGRAMS)), "")


def sure(found: Found) -> Found:
    """Without walls that cannot make here what is asked of them. Blocks: it tries them."""
    if not found.walls:
        return found
    try:
        tried = subprocess.run(
            walled_argv(found.walls, TRIAL),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=_TRIAL_SECONDS,
            env={"PATH": "/usr/bin:/bin"},
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired):
        return replace(found, walls="")
    return found if tried.returncode == 0 else replace(found, walls="")
