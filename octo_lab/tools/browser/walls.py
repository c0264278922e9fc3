"""The walls around Chromium: it sees the system's programs, fonts and its own profile, no more."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from pathlib import Path

TRIAL = ("/bin/sh", "-c", "exit 0")
_SYSTEM = ("/bin", "/sbin", "/lib", "/lib32", "/lib64")
_ETC = (
    *("ld.so.cache", "ld.so.conf", "ld.so.conf.d", "alternatives", "nsswitch.conf", "fonts"),
    *("localtime", "timezone", "ssl/certs", "ca-certificates", "mime.types", "chromium"),
    *("chromium.d", "pki/tls/certs", "pki/ca-trust", "crypto-policies", "host.conf"),
)
# Not root's: with any other number Chromium's own sandbox works within these walls.
_USER = "1000"


def walled_argv(walls: str, argv: Sequence[str], profile: Path | None = None) -> list[str]:
    """``argv`` in namespaces of its own but that of the network, where its proxy is.

    It may make namespaces itself: Chromium shuts its pages in further.
    """
    return [
        walls,
        *("--unshare-user", "--uid", _USER, "--gid", _USER),
        *("--unshare-pid", "--unshare-ipc", "--unshare-uts", "--unshare-cgroup-try"),
        *("--die-with-parent", "--new-session", "--hostname", "octo"),
        *("--ro-bind", "/usr", "/usr"),
        *(part for name in _SYSTEM for part in _system(name)),
        *("--ro-bind-try", "/opt", "/opt"),
        *(part for name in _ETC for part in ("--ro-bind-try", f"/etc/{name}", f"/etc/{name}")),
        *("--dev", "/dev", "--proc", "/proc", "--tmpfs", "/tmp", "--tmpfs", "/var/tmp"),
        *(("--bind", str(profile), str(profile)) if profile else ()),
        *("--chdir", "/tmp", "--", *argv),
    ]


def _system(name: str) -> tuple[str, ...]:
    """A folder of the system, or the link that it is where ``/usr`` was merged."""
    if Path(name).is_symlink():
        return ("--symlink", str(Path(name).readlink()), name)
    return ("--ro-bind-try", name, name)


def starter(folder: Path, program: str, *, walls: str = "", profile: Path | None = None) -> Path:
    """A script in ``folder`` that becomes the browser: whoever starts it knows only one path."""
    argv = walled_argv(walls, [program], profile) if walls else [program]
    script = folder / "start"
    script.write_text(f'#!/bin/sh\nexec {shlex.join(argv)} "$@"\n')
    script.chmod(0o700)
    return script
