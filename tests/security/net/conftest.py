from __future__ import annotations

from collections.abc import AsyncGenerator, Callable
from pathlib import Path

import pytest

from octo_lab.security.net.allowed import read_allowed
from octo_lab.security.net.dial import Dialer
from octo_lab.security.net.guard import Guard, Resolver
from octo_lab.testing.http_server import HttpServer, Reply
from octo_lab.testing.resolvers import ScriptedResolver
from tests.security.net.authority import Authority, new_authority
from tests.security.net.spellings import NAMES

Dialers = Callable[..., Dialer]


@pytest.fixture
async def canary() -> AsyncGenerator[HttpServer]:
    """A server of this machine that nobody may reach; the test fails when somebody did."""
    async with HttpServer({}, other=Reply(body=b"the secret of the canary")) as server:
        yield server
    assert [(asked.method, asked.path) for asked in server.asked] == []


@pytest.fixture
def dialer() -> Dialers:
    """Makes a dialer with a written name server; only what is named by ``allow`` is let in."""

    def make(*allow: str, resolve: Resolver | None = None) -> Dialer:
        resolver = resolve or ScriptedResolver(names=NAMES)
        return Dialer(guard=Guard(allowed=read_allowed(allow), resolve=resolver), patience=5.0)

    return make


@pytest.fixture(scope="session")
def authority(tmp_path_factory: pytest.TempPathFactory) -> Authority:
    folder: Path = tmp_path_factory.mktemp("authority")
    return new_authority(folder)
