"""What the protocol server must know of a dialect."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from octo_lab.llm.wires.checks import Problem
from octo_lab.testing.llm_script import Json, Turn


@dataclass(frozen=True, slots=True, kw_only=True)
class ServerWire:
    """A dialect. ``problem`` judges path, headers and body as strictly as the vendor does.

    ``pieces`` are the body of an answer, one for each event; ``error_body`` is what the vendor
    answers beside a status, from status, message, code and the parameter at fault. ``listing`` is
    the vendor's own form of a list of models, given to who asks with the vendor's header.
    """

    name: str
    serves: Callable[[str], bool]
    key: Callable[[Mapping[str, str]], str]
    problem: Callable[[str, Mapping[str, str], Json], Problem | None]
    model: Callable[[str, Json], str]
    pieces: Callable[[Turn, Json], list[bytes]]
    error_body: Callable[[int, str, str | None, str | None], bytes]
    listing: Callable[[Sequence[str]], Json] | None = None
