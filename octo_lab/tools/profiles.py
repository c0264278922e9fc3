"""How the toolset is shaped for one provider or model: order, names, what is added and left out."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fnmatch import fnmatchcase

from octo_lab.tools.policy import names_of
from octo_lab.tools.tool import Tool


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolProfile:
    """Adjustments for a model. All but ``aliases`` are name patterns or ``group:NAME``.

    ``prefer`` come first and ``demote`` last, where a model looks least; ``extras`` are offered
    although ``tools.allow`` leaves them out, ``deny`` are not. ``aliases``: the name of a tool →
    the name by which the model knows it.
    """

    prefer: tuple[str, ...] = ()
    demote: tuple[str, ...] = ()
    extras: tuple[str, ...] = ()
    deny: tuple[str, ...] = ()
    aliases: Mapping[str, str] = field(default_factory=dict)


USUAL: Mapping[str, ToolProfile] = {
    "openai": ToolProfile(prefer=("shell", "read_file"), demote=("diff_edit",)),
}
"""What is known of providers; one of the settings of the same name takes its place."""


def profile_of(model: str, profiles: Mapping[str, ToolProfile]) -> ToolProfile:
    """All adjustments that fit ``provider/model``: by provider, by full name, or by pattern."""
    provider = model.partition("/")[0]
    fitting = [
        profile
        for pattern, profile in profiles.items()
        if pattern == provider or fnmatchcase(model, pattern)
    ]
    return _joined(fitting)


def _joined(profiles: Iterable[ToolProfile]) -> ToolProfile:
    whole = ToolProfile()
    for profile in profiles:
        whole = ToolProfile(
            prefer=whole.prefer + profile.prefer,
            demote=whole.demote + profile.demote,
            extras=whole.extras + profile.extras,
            deny=whole.deny + profile.deny,
            aliases={**whole.aliases, **profile.aliases},
        )
    return whole


def shaped(tools: Sequence[Tool], profile: ToolProfile) -> list[Tool]:
    """The tools in the profile's order and by its names.

    An alias that another tool has as its name is not used. The policy goes by a tool's own name.
    """
    ordered = sorted(tools, key=lambda tool: _rank(tool, profile))
    taken = {tool.name for tool in tools}
    named: list[Tool] = []
    for tool in ordered:
        alias = profile.aliases.get(tool.name, "")
        if alias and alias not in taken:
            taken.add(alias)
            tool = replace(tool, name=alias, own_name=tool.own_name or tool.name)
        named.append(tool)
    return named


def _rank(tool: Tool, profile: ToolProfile) -> int:
    """Preferred ones by the place of their pattern, then the others, then the demoted."""
    for place, pattern in enumerate(profile.prefer):
        if _fits(tool, pattern):
            return place - len(profile.prefer)
    return 1 if any(_fits(tool, pattern) for pattern in profile.demote) else 0


def _fits(tool: Tool, pattern: str) -> bool:
    return any(fnmatchcase(name, pattern) for name in names_of(tool.name, tool.group))
