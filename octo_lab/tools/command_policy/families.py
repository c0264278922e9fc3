"""What a standing yes for a command line covers."""

from __future__ import annotations

from octo_lab.tools.command_policy import shells, wrappers
from octo_lab.tools.command_policy.judge import judge_command
from octo_lab.tools.command_policy.names import names
from octo_lab.tools.command_policy.parse import parse
from octo_lab.tools.command_policy.place import Place
from octo_lab.tools.command_policy.syntax import Simple, Unreadable

_PARTED = names(
    "git npm pnpm yarn cargo go make just task poetry uv pip pip3 hatch tox nox dotnet mvn gradle "
    "bundle rake composer mix docker podman kubectl terraform conda brew apt systemctl"
)


def families(line: str, place: Place) -> tuple[str, ...]:
    """The families of commands in ``line``, such as ``git status``; else the line itself.

    A line that is more than harmless is a family of its own, and so is one whose programs run
    what others tell them.
    """
    line = line.strip()
    if judge_command(line, place).decision != "allow":
        return (line,)
    try:
        found = {_family(simple) for simple in parse(line) if simple.words}
    except Unreadable:
        return (line,)
    return (line,) if "" in found or not found else tuple(sorted(found))


def _family(simple: Simple) -> str:
    """One command's family, '' when it has none."""
    first, *args = simple.words
    name = first.literal or ""
    plain = name.rpartition("/")[2]
    if simple.assigns or plain in wrappers.RULES or plain in shells.RULES:
        return ""
    if shells.interpreter(plain) is not None:
        return ""
    if plain not in _PARTED:
        return name
    part = args[0].literal if args else None
    return "" if part is None or part.startswith("-") else f"{name} {part}"
