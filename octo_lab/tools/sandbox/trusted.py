"""Where the programs are that make a sandbox: never where a command could put one of that name."""

from __future__ import annotations

import os

SYSTEM_PATH = os.pathsep.join(
    (
        *("/usr/local/bin", "/usr/bin", "/bin", "/usr/local/sbin", "/usr/sbin", "/sbin"),
        *("/run/current-system/sw/bin", "/opt/homebrew/bin"),
    )
)
