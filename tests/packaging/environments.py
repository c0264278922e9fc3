"""Empty environments, and commands run in them."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

ROOT = Path(__file__).parents[2]
UV = shutil.which("uv", path=str(Path(sys.executable).parent)) or "uv"


def run(command: Sequence[str | Path], cwd: Path = ROOT, **env: str) -> str:
    """Run a command in a plain environment; its output, or a failure that shows it."""
    done = subprocess.run(
        command, cwd=cwd, env=plain_environment(env), text=True, capture_output=True, check=False
    )
    assert done.returncode == 0, f"{command}\n{done.stdout[-3000:]}\n{done.stderr[-3000:]}"
    return done.stdout


def plain_environment(extra: Mapping[str, str]) -> dict[str, str]:
    """Ours without the variables that would make an answer depend on this machine."""
    ours = {name: value for name, value in os.environ.items() if not name.startswith("OCTO_")}
    for name in [name for name in ours if name.endswith("_API_KEY") or name == "VIRTUAL_ENV"]:
        del ours[name]
    return {**ours, **extra}


def fresh_python(folder: Path) -> Path:
    """A new, empty environment of this Python version."""
    run([UV, "venv", "--quiet", "--python", sys.executable, folder])
    return folder / "bin" / "python"
