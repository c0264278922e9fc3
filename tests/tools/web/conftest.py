from __future__ import annotations

from collections.abc import AsyncGenerator, Callable, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any

import pytest

from octo_lab.core.errors import ToolFailed
from octo_lab.security.net.allowed import read_allowed
from octo_lab.security.net.client import GuardedClient
from octo_lab.security.net.dial import Dialer
from octo_lab.security.net.guard import Guard
from octo_lab.testing.http_server import HttpServer, Reply
from octo_lab.testing.resolvers import ScriptedResolver
from octo_lab.tools.exec_env import Executed, Execution
from octo_lab.tools.powers import Powers
from tests.security.net.spellings import NAMES


class NoPrograms:
    """An ExecEnvironment of tools that run nothing."""

    async def exec(self, execution: Execution) -> Executed:
        raise ToolFailed("nothing runs here")

    async def read_file(self, path: str) -> bytes:
        raise ToolFailed("no files here")

    async def write_file(self, path: str, data: bytes) -> None:
        raise ToolFailed("no files here")

    async def file_exists(self, path: str) -> bool:
        return False

    async def list_dir(self, path: str) -> list[str]:
        return []


NONE: Mapping[str, str] = MappingProxyType({})
MakePowers = Callable[..., Powers]


@pytest.fixture
def powers(tmp_path: Path) -> MakePowers:
    """Powers with the real guarded client; only what is named by ``allow`` is let in."""

    def make(*allow: str, environ: Mapping[str, str] = NONE, **options: dict[str, Any]) -> Powers:
        guard = Guard(allowed=read_allowed(allow), resolve=ScriptedResolver(names=NAMES))
        web = GuardedClient(Dialer(guard=guard, patience=5.0))
        return Powers(exec=NoPrograms(), web=web, environ=environ, options=options)

    return make


@pytest.fixture
async def canary() -> AsyncGenerator[HttpServer]:
    """A server of this machine that nobody may reach; the test fails when somebody did."""
    async with HttpServer({}, other=Reply(body=b"the secret of the canary")) as server:
        yield server
    assert [(asked.method, asked.path) for asked in server.asked] == []
