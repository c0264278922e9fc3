"""Options of tools, set while octo_lab runs: the tool ``configure_tool`` and ``/config``."""

from __future__ import annotations

import difflib
import json
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import anyio.to_thread
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from octo_lab.config.layers import read_layer
from octo_lab.config.load import CONFIG
from octo_lab.config.paths import FOLDER
from octo_lab.config.place import Place, find_place_again
from octo_lab.config.replace import replace_file
from octo_lab.config.settings import Settings
from octo_lab.core.errors import ConfigError, OctoError, ToolFailed, UsageError
from octo_lab.core.replies import Told
from octo_lab.session.commands import Command, CommandCall
from octo_lab.tools.model_tool import model_tool
from octo_lab.tools.policy import OWNED
from octo_lab.tools.tool import Tool, ToolContext

# None that names a program or an address: those are for a person with an editor.
OPTIONS = (
    "web_search.count",
    "web_fetch.extract_mode",
    "web_fetch.max_chars",
    "deep_crawl.page_settle_ms",
    "deep_crawl.max_output_chars",
    "browser.action_timeout_secs",
    "browser.idle_timeout_secs",
)
DEFAULT = "default"


class ConfigureToolArgs(BaseModel):
    model_config = ConfigDict(extra="forbid")

    tool: str = Field(min_length=1, max_length=40, description=f"One of: {', '.join(OPTIONS)}.")
    option: str = Field(min_length=1, max_length=40, description="What stands after the dot.")
    value: int | float | str = Field(description="The new value; default takes it back.")

    @property
    def key(self) -> str:
        return f"{self.tool}.{self.option}"


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolConfig:
    """Writes to the config file of ``place``; ``news`` has the runtime take over what changed."""

    place: Place | None
    news: Callable[[], str]

    def tool(self) -> Tool:
        return model_tool(
            self.configure_tool,
            ConfigureToolArgs,
            name="configure_tool",
            group="sessions",
            source="own",
            risk="write",
            asks=True,
            channels=OWNED,
            detail=lambda args: f"{args.key} = {args.value}",
            scopes=lambda args, workspace: (args.key,),
            timeout=30.0,
        )

    def command(self) -> Command:
        return Command(
            name="config",
            usage="[TOOL.OPTION [VALUE]]",
            summary="show or set the options of tools",
            run=self.run,
            channels=OWNED,
        )

    async def configure_tool(self, ctx: ToolContext, args: ConfigureToolArgs) -> str:
        """Set an option of a tool for this workspace, from now on; what a call says goes first."""
        try:
            return await self.set(args.key, args.value)
        except ToolFailed:
            raise
        except OctoError as exc:
            raise ToolFailed(exc.message, hint=exc.hint) from exc

    async def run(self, call: CommandCall) -> Told:
        key, _, value = call.args.partition(" ")
        if value.strip():
            return Told(text=await self.set(key, value.strip()))
        settings = await anyio.to_thread.run_sync(self._settings)
        keys = (_known(key),) if key else OPTIONS
        return Told(text="\n".join(f"- `{one}` = {_value(settings, one)}" for one in keys))

    async def set(self, key: str, value: int | float | str) -> str:
        """Raises UsageError for what does not fit, ConfigError when the file cannot be used."""
        checked = None if value == DEFAULT else _checked(_known(key), value)
        write = partial(_write, self._file(), _known(key), checked)
        await anyio.to_thread.run_sync(write)
        news = self.news()
        settings = await anyio.to_thread.run_sync(self._settings)
        said = f"`{key}` is {_value(settings, key)} now."
        return f"{said} {news}".rstrip()

    def _file(self) -> Path:
        place = self._place()
        return place.config or place.workspace / FOLDER / CONFIG

    def _settings(self) -> Settings:
        return find_place_again(self._place()).settings

    def _place(self) -> Place:
        if self.place is None:
            raise UsageError("This octo_lab was not started from a config file")
        return self.place


def _known(key: str) -> str:
    if key in OPTIONS:
        return key
    near = difflib.get_close_matches(key, OPTIONS, n=1)
    hint = f"did you mean {near[0]!r}?" if near else f"known: {', '.join(OPTIONS)}"
    raise UsageError(f"No option of a tool is called {key[:80]!r}", hint=hint)


def _value(settings: Settings, key: str) -> Any:
    section, _, option = key.partition(".")
    return getattr(getattr(settings, section), option)


def _checked(key: str, value: int | float | str) -> int | float | str:
    """As the settings keep it; raises UsageError."""
    section, _, option = key.partition(".")
    kind: Any = Settings.model_fields[section].annotation
    try:
        found: int | float | str = getattr(kind.model_validate({option: value}), option)
    except ValidationError as exc:
        why = exc.errors(include_url=False, include_input=False)[0]["msg"]
        raise UsageError(f"{key} cannot be {str(value)[:80]!r}", hint=why) from None
    return found


def _write(file: Path, key: str, value: int | float | str | None) -> None:
    """All else in the file stays as it is; None takes the option out."""
    section, _, option = key.partition(".")
    values = read_layer(file)
    part = values.setdefault(section, {})
    if not isinstance(part, dict):
        raise ConfigError(f"{str(file)!r}: {section} is no object", hint="fix this value")
    if value is None:
        part.pop(option, None)
    else:
        part[option] = value
    text = json.dumps({name: it for name, it in values.items() if it != {}}, indent=2)
    try:
        replace_file(file, f"{text}\n")
    except OSError as exc:
        raise ConfigError(f"{str(file)!r} cannot be written: {exc.strerror}") from exc
