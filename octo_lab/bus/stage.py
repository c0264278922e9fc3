"""A group of tasks that gets some time to end by itself when it is left."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager

import anyio
from anyio.abc import TaskGroup


@asynccontextmanager
async def stage(grace: float = 0.0) -> AsyncGenerator[TaskGroup]:
    """Tasks started here are cancelled ``grace`` seconds after the block was left.

    To be entered and left by one task, in order, as an exit stack does.
    """
    failure: Exception | None = None
    async with anyio.create_task_group() as tasks:
        try:
            yield tasks
        except Exception as exc:  # noqa: BLE001 - raised below, where no group wraps it
            failure = exc
        finally:
            tasks.cancel_scope.deadline = anyio.current_time() + grace
    if failure is not None:
        raise failure
