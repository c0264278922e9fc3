"""The filter of system calls, read as the kernel reads it."""

from __future__ import annotations

import struct

import pytest

from octo_lab.tools.sandbox.sockets import socket_filter

ALLOW, NO_CALL, NO_FAMILY = 0x7FFF0000, 0x50026, 0x50061
X86, ARM, I386 = 0xC000003E, 0xC00000B7, 0x40000003


def verdict(program: bytes, machine: int, number: int, first: int = 0) -> int:
    """What a kernel would do with the call."""
    shown = struct.pack("<IIQQ", number, machine, 0, first)
    steps = list(struct.iter_unpack("<HBBI", program))
    at, held = 0, 0
    while True:
        code, yes, no, value = steps[at]
        match code:
            case 0x20:
                (held,) = struct.unpack_from("<I", shown, value)
            case 0x06:
                return int(value)
            case 0x15:
                at += yes if held == value else no
            case 0x35:
                at += yes if held >= value else no
        at += 1


@pytest.mark.parametrize(
    ("name", "machine", "numbers"),
    [("x86_64", X86, (41, 53)), ("aarch64", ARM, (198, 199))],
)
def test_only_ordinary_sockets_are_made(name: str, machine: int, numbers: tuple[int, int]) -> None:
    program = socket_filter(name)
    for number in numbers:
        allowed = {f for f in range(64) if verdict(program, machine, number, f) == ALLOW}
        assert allowed == {1, 2, 10, 16}
        assert verdict(program, machine, number, 40) == NO_FAMILY
    others = {n for n in range(600) if verdict(program, machine, n) != ALLOW} - {*numbers}
    assert others == {425}


def test_the_same_calls_by_other_numbers_do_not_pass() -> None:
    program = socket_filter("x86_64")

    assert verdict(program, X86, 0x40000000 + 41, 40) == NO_CALL
    assert verdict(program, I386, 102, 1) == NO_CALL


def test_a_machine_that_is_not_known_has_no_filter() -> None:
    assert socket_filter("vax") == b""
