from __future__ import annotations

import anyio
import pytest

from octo_lab.core.liveness import alive, listening

pytestmark = pytest.mark.anyio


async def test_whoever_listens_hears_of_every_sign_also_from_tasks_begun_within() -> None:
    heard: list[str] = []

    async def work() -> None:
        alive()

    alive()
    with listening(lambda: heard.append("outer")):
        alive()
        with listening(lambda: heard.append("inner")):
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(work)
        alive()
    alive()

    assert heard == ["outer", "inner", "outer"]
