"""Setups for tests: everything real, in one temporary folder, with no network."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from octo_lab.app import Setup
from octo_lab.bus.ports import Channel
from octo_lab.config.settings import (
    ChannelToolSettings,
    LocalSettings,
    ProviderSettings,
    Settings,
    ToolSettings,
)
from octo_lab.llm.provider import Provider
from octo_lab.session.commands import Command
from octo_lab.tools.tool import Tool


def setup_in(
    folder: Path,
    *channels: Channel,
    provider: Provider | None = None,
    tools: Sequence[Tool] = (),
    commands: Sequence[Command] = (),
    base_url: str = "",
    **settings: Any,
) -> Setup:
    """A runtime whose workspace is ``folder``; ``base_url`` connects it to a model server.

    It looks for no model servers of this machine. Channels named ``memory`` are the owner's.
    """
    settings.setdefault("local", LocalSettings(detect=False))
    settings["tools"] = _owned(settings.get("tools", ToolSettings()))
    if base_url:
        settings.setdefault("model", "openai/scripted")
        settings["providers"] = {"openai": ProviderSettings(base_url=base_url)}
    return Setup(
        settings=Settings(**settings),
        workspace=folder,
        data_folder=folder / "data",
        environ={},
        channels=channels,
        tools=tools,
        commands=commands,
        provider=provider,
    )


def _owned(tools: ToolSettings) -> ToolSettings:
    memory = ChannelToolSettings(origin="owner")
    return tools.model_copy(update={"channels": {"memory": memory, **tools.channels}})
