"""Run as a script: gives up what Landlock can take away, then becomes the program.

The kernel's own documentation: https://docs.kernel.org/userspace-api/landlock.html. Argument 1 is
JSON: ``read`` and ``write`` are lists of paths, ``hidden`` what of these is neither, ``fixed`` what
is only read where something beside it is hidden; ``network`` says whether TCP stays.
"""

from __future__ import annotations

import ctypes
import json
import os
import stat
import sys
from contextlib import suppress
from typing import Any

_CREATE, _ADD, _RESTRICT = 444, 445, 446
_NO_NEW_PRIVILEGES, _DROP_CAPABILITY = 38, 24
_CAPABILITIES = 64
_CAPABILITY_VERSION = 0x20080522
_EXECUTE, _WRITE_FILE, _READ_FILE, _READ_DIR = 1, 2, 4, 8
_REFER, _TRUNCATE, _IOCTL = 1 << 13, 1 << 14, 1 << 15
_FIRST_RIGHTS = (1 << 13) - 1
_ON_FILES = _EXECUTE | _WRITE_FILE | _READ_FILE | _TRUNCATE | _IOCTL
_READING = _EXECUTE | _READ_FILE | _READ_DIR
_TCP = 3
_SCOPES = 3  # abstract sockets and signals of others
_C = ctypes.CDLL(None, use_errno=True)


class _Ruleset(ctypes.Structure):
    _fields_ = (("fs", ctypes.c_uint64), ("net", ctypes.c_uint64), ("scoped", ctypes.c_uint64))


class _Beneath(ctypes.Structure):
    _pack_ = 1
    _fields_ = (("allowed", ctypes.c_uint64), ("parent", ctypes.c_int32))


def landlock_version() -> int:
    """The version of Landlock in this kernel; 0: none, or it is switched off."""
    if not sys.platform.startswith("linux"):
        return 0
    return max(0, int(_C.syscall(_CREATE, None, 0, 1)))


def rights_of(version: int) -> int:
    """All rights on files that this version knows."""
    rights = _FIRST_RIGHTS
    for since, right in ((2, _REFER), (3, _TRUNCATE), (5, _IOCTL)):
        rights |= right if version >= since else 0
    return rights


def restrict(spec: dict[str, Any]) -> None:
    """Give up everything else, for this process and all it starts; raises OSError."""
    version = landlock_version()
    rights = rights_of(version)
    net = _TCP if version >= 4 and not spec["network"] else 0
    ruleset = _Ruleset(fs=rights, net=net, scoped=_SCOPES if version >= 6 else 0)
    size = 24 if version >= 6 else 16 if version >= 4 else 8
    handle = _checked(_C.syscall(_CREATE, ctypes.byref(ruleset), size, 0))
    for path in spec["read"]:
        _allow_but(handle, path, _READING & rights, spec)
    for path in spec["write"]:
        _allow_but(handle, path, rights, spec)
    _checked(_C.prctl(_NO_NEW_PRIVILEGES, 1, 0, 0, 0))
    _checked(_C.syscall(_RESTRICT, handle, 0))
    os.close(handle)


def give_up_capabilities() -> None:
    """Root's rights would let it look into other processes, whatever Landlock says."""
    for capability in range(_CAPABILITIES):
        _C.prctl(_DROP_CAPABILITY, capability, 0, 0, 0)  # fails for who has none to drop
    header = (ctypes.c_uint32 * 2)(_CAPABILITY_VERSION, 0)
    _checked(_C.capset(header, (ctypes.c_uint32 * 6)()))


def _allow_but(handle: int, path: str, rights: int, spec: dict[str, Any]) -> None:
    """The folder, or where something in it is hidden all else that lies there now."""
    if not any(hidden.startswith(f"{path}/") for hidden in spec["hidden"]):
        _allow(handle, path, rights)
        return
    _allow(handle, path, _READ_DIR)  # the names of what is hidden are seen
    for entry in os.scandir(path):
        if entry.path not in spec["hidden"] and not entry.is_symlink():
            given = _READING if entry.path in spec["fixed"] else rights
            _allow_but(handle, entry.path, given & rights, spec)


def _allow(handle: int, path: str, rights: int) -> None:
    try:
        beneath = os.open(path, os.O_PATH | os.O_CLOEXEC)
    except FileNotFoundError:
        return
    if not stat.S_ISDIR(os.fstat(beneath).st_mode):
        rights &= _ON_FILES
    rule = _Beneath(allowed=rights, parent=beneath)
    _checked(_C.syscall(_ADD, handle, 1, ctypes.byref(rule), 0))
    os.close(beneath)


def _checked(result: int) -> int:
    if result < 0:
        code = ctypes.get_errno()
        raise OSError(code, os.strerror(code))
    return result


def main() -> None:
    try:
        restrict(json.loads(sys.argv[1]))
        give_up_capabilities()
    except OSError as exc:
        sys.exit(f"landlock: {exc.strerror}")
    with suppress(FileNotFoundError):
        os.execvp(sys.argv[2], sys.argv[2:])
    sys.exit(f"{sys.argv[2]}: not found")


if __name__ == "__main__":
    main()
