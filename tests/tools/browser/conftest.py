from __future__ import annotations

from collections.abc import AsyncGenerator, Callable, Mapping
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import replace

import anyio.to_thread
import pytest

from octo_lab.bus.stage import stage
from octo_lab.security.net.allowed import read_allowed
from octo_lab.security.net.dial import Dialer
from octo_lab.security.net.guard import Guard, Resolver
from octo_lab.testing.resolvers import ScriptedResolver
from octo_lab.tools.browser.browsers import Browsers
from octo_lab.tools.browser.found import find_browser
from tests.security.net.spellings import NAMES

Open = Callable[..., AbstractAsyncContextManager[Browsers]]


@pytest.fixture
def browsers() -> Open:
    """Real browsers, behind a guard that lets in only what is named by ``allow``."""

    @asynccontextmanager
    async def make(
        *allow: str,
        resolve: Resolver | None = None,
        environ: Mapping[str, str] | None = None,
        seconds: float = 20.0,
        idle: float = 300.0,
        walls: bool = True,
    ) -> AsyncGenerator[Browsers]:
        resolver = resolve or ScriptedResolver(names=NAMES)
        guard = Guard(allowed=read_allowed(allow), resolve=resolver)
        found = await anyio.to_thread.run_sync(find_browser)
        found = found if walls else replace(found, walls="")
        async with stage() as tasks:
            yield Browsers(
                found,
                Dialer(guard=guard, patience=5.0),
                tasks,
                environ=environ or {},
                seconds=seconds,
                idle=idle,
            )

    return make
