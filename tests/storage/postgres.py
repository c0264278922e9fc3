"""A real PostgreSQL server of our own, on a socket in a temporary folder."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

_USER = "postgres"


def find_binaries() -> Path | None:
    """The newest server's binaries, None when there are none."""
    found = sorted(Path("/usr/lib/postgresql").glob("*/bin/initdb"))
    homebrew = sorted(Path("/opt/homebrew/opt").glob("postgresql*/bin/initdb"))
    on_path = shutil.which("initdb")
    candidates = [*([Path(on_path)] if on_path else []), *homebrew, *found]
    return candidates[-1].parent if candidates else None


@contextmanager
def postgresql(binaries: Path, folder: Path) -> Iterator[str]:
    """Run a server; yields the URL of its database."""
    account = _USER if os.geteuid() == 0 else None  # the server refuses to run as root
    if account:
        shutil.chown(folder, account)
    data = folder / "data"

    def run(name: str, *arguments: str) -> None:
        command = [str(binaries / name), "-D", str(data), *arguments]
        subprocess.run(command, user=account, cwd=folder, check=True, stdout=subprocess.DEVNULL)

    run("initdb", "--auth=trust", f"--username={_USER}", "--encoding=UTF8", "--no-sync")
    settings = f"-k {folder} -c listen_addresses='' -c fsync=off -c max_connections=60"
    run("pg_ctl", "start", "-w", "-o", settings, "-l", str(folder / "log"))
    try:
        yield f"postgresql://{_USER}@/postgres?host={folder}"
    finally:
        run("pg_ctl", "stop", "-m", "immediate")
