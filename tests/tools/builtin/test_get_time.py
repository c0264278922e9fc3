from __future__ import annotations

import re
from datetime import UTC, datetime
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest

from octo_lab.core.errors import ToolFailed
from octo_lab.tools.builtin.get_time import TOOL, written
from octo_lab.tools.tool import ToolContext

pytestmark = pytest.mark.anyio

CTX = ToolContext(
    workspace=Path("/w"),
    channel="notebook",
    chat_id="c",
    session="s",
    turn_id="t",
    call_id="1",
    report=lambda line: None,
)
MOMENT = datetime(2026, 11, 30, 23, 4, 5, tzinfo=UTC)


def test_a_moment_is_written_with_day_zone_and_offset() -> None:
    assert (
        written(MOMENT, ZoneInfo("Asia/Tokyo"), "Asia/Tokyo")
        == "Tuesday, 2026-12-01 08:04:05 (Asia/Tokyo, UTC+09:00)"
    )


async def test_the_zone_asked_for_is_told() -> None:
    text = await TOOL.run(CTX, TOOL.parse({"timezone": "UTC"}))
    assert re.fullmatch(r"\w+day, \d{4}-\d\d-\d\d \d\d:\d\d:\d\d \(UTC, UTC\+00:00\)", str(text))


async def test_without_a_zone_the_machine_s_own_is_told() -> None:
    assert re.search(r"UTC[+-]\d\d:\d\d\)$", str(await TOOL.run(CTX, TOOL.parse({}))))


@pytest.mark.parametrize("name", ["Europe/Nowhere", "../../etc/passwd", "Europe", "\0"])
async def test_an_unknown_zone_is_named_with_the_next_step(name: str) -> None:
    with pytest.raises(ToolFailed, match="No time zone") as caught:
        await TOOL.run(CTX, TOOL.parse({"timezone": name}))
    assert "Europe/Berlin" in caught.value.hint
