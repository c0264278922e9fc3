"""A filter of system calls that leaves a command only ordinary sockets.

A network namespace cuts off IP and named sockets; those to the host of a virtual machine (vsock),
and others that kernels know, go past it. Numbers and layouts: linux/seccomp.h, linux/audit.h.
"""

from __future__ import annotations

import platform
import struct
from collections.abc import Sequence
from dataclasses import dataclass

_FAMILIES = (1, 2, 10, 16)  # Unix, IPv4, IPv6, netlink
_LOAD, _EQUAL, _AT_LEAST, _RETURN = 0x20, 0x15, 0x35, 0x06
_NUMBER, _MACHINE, _FIRST = 0, 4, 16  # offsets in what a filter is shown
_ALLOW, _ERROR = 0x7FFF0000, 0x00050000
_NO_CALL, _NO_FAMILY = 38, 97  # ENOSYS, EAFNOSUPPORT
_IO_URING = 425  # makes sockets, too, unseen by any filter
_OTHER_CALLS = 0x40000000  # the same calls by other numbers


@dataclass(frozen=True, slots=True, kw_only=True)
class _Machine:
    audit: int
    socket: int
    pair: int


_MACHINES = {
    "x86_64": _Machine(audit=0xC000003E, socket=41, pair=53),
    "aarch64": _Machine(audit=0xC00000B7, socket=198, pair=199),
}


def socket_filter(machine: str = "") -> bytes:
    """For ``bwrap --seccomp``; empty for machines whose numbers are not known here."""
    known = _MACHINES.get(machine or platform.machine())
    if known is None:
        return b""
    steps: list[tuple[int, int, str, str]] = [
        (_LOAD, _MACHINE, "", ""),
        (_EQUAL, known.audit, "", "no call"),
        (_LOAD, _NUMBER, "", ""),
        (_AT_LEAST, _OTHER_CALLS, "no call", ""),
        (_EQUAL, _IO_URING, "no call", ""),
        (_EQUAL, known.socket, "family", ""),
        (_EQUAL, known.pair, "family", "allow"),
        (_LOAD, _FIRST, "", ""),
        *((_EQUAL, family, "allow", "") for family in _FAMILIES),
        (_RETURN, _ERROR | _NO_FAMILY, "", ""),
        (_RETURN, _ERROR | _NO_CALL, "", ""),
        (_RETURN, _ALLOW, "", ""),
    ]
    places = {"family": 7, "no call": len(steps) - 2, "allow": len(steps) - 1}
    return _assembled(steps, places)


def _assembled(steps: Sequence[tuple[int, int, str, str]], places: dict[str, int]) -> bytes:
    """Jumps count the steps that are passed over; no name is the next step."""
    made = b""
    for at, (code, value, yes, no) in enumerate(steps):
        jumps = [places[name] - at - 1 if name else 0 for name in (yes, no)]
        made += struct.pack("<HBBI", code, *jumps, value)
    return made
