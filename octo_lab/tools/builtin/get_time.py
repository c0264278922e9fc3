"""The tool ``get_time``: what time it is, here or elsewhere."""

from __future__ import annotations

from datetime import datetime, tzinfo
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

import anyio.to_thread
from pydantic import BaseModel, ConfigDict, Field

from octo_lab.core.clock import utc_now
from octo_lab.core.errors import ToolFailed
from octo_lab.tools.model_tool import model_tool
from octo_lab.tools.tool import ToolContext


class GetTimeArgs(BaseModel):
    """What the tool takes."""

    model_config = ConfigDict(extra="forbid")

    timezone: str | None = Field(
        default=None, max_length=100, description="An IANA name such as Europe/Berlin, or UTC."
    )


async def get_time(ctx: ToolContext, args: GetTimeArgs) -> str:
    """Tell the date and time, in the time zone of this machine or in the one named."""
    return await anyio.to_thread.run_sync(_read, args.timezone)


def _read(timezone: str | None) -> str:
    zone = _zone(timezone) if timezone else None
    return written(utc_now(), zone, timezone or "")


def _zone(name: str) -> ZoneInfo:
    try:
        return ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError, OSError):
        raise ToolFailed(
            f"No time zone is called {name!r}", hint="use an IANA name such as Europe/Berlin"
        ) from None


def written(moment: datetime, zone: tzinfo | None, name: str = "") -> str:
    """``Monday, 2026-11-30 14:05:09 (Europe/Berlin, UTC+01:00)``; no zone: the machine's."""
    local = moment.astimezone(zone)
    offset = local.strftime("%z")
    label = name or local.tzname() or "local time"
    return f"{local:%A, %Y-%m-%d %H:%M:%S} ({label}, UTC{offset[:3]}:{offset[3:5]})"


TOOL = model_tool(get_time, GetTimeArgs, name="get_time", group="info", source="own", timeout=10.0)
