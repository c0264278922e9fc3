"""Everything a runtime is made of, as one value."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from octo_lab.agent.task import NO_EPISODES, Episodes
from octo_lab.bus.ports import Channel
from octo_lab.config.place import Place, find_place
from octo_lab.config.settings import Settings
from octo_lab.llm.provider import Provider
from octo_lab.session.commands import Command
from octo_lab.tools.tool import Tool


@dataclass(frozen=True, slots=True, kw_only=True)
class Setup:
    """Everything a runtime is made of. ``provider`` overrides the settings' choice of model.

    ``sources`` and ``variables`` say which file each setting and variable came from, ``place``
    how to read them anew. ``episodes`` remembers what came of tasks.
    """

    settings: Settings
    workspace: Path
    data_folder: Path
    environ: Mapping[str, str] = field(repr=False)
    channels: Sequence[Channel] = ()
    tools: Sequence[Tool] = ()
    commands: Sequence[Command] = ()
    provider: Provider | None = None
    episodes: Episodes = NO_EPISODES
    sources: Mapping[str, str] = field(default_factory=dict)
    variables: Mapping[str, str] = field(default_factory=dict)
    place: Place | None = field(default=None, repr=False)


def setup_from(
    *,
    start: Path,
    environ: Mapping[str, str],
    channels: Sequence[Channel] = (),
    tools: Sequence[Tool] = (),
) -> Setup:
    """A setup as the files and variables around ``start`` say; raises ConfigError."""
    return setup_at(find_place(start, environ), channels=channels, tools=tools)


def setup_at(
    place: Place, *, channels: Sequence[Channel] = (), tools: Sequence[Tool] = ()
) -> Setup:
    return Setup(**from_files(place), channels=channels, tools=tools)


def from_files(place: Place) -> dict[str, Any]:
    """The fields of a setup that the files and variables of a place tell."""
    return {
        "settings": place.settings,
        "workspace": place.workspace,
        "data_folder": place.data_folder,
        "environ": place.environ,
        "sources": place.sources,
        "variables": place.variables,
        "place": place,
    }
