"""Strangers' pages, a canary that nobody may reach, and a workspace with a secret."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from octo_lab.testing.http_server import HttpServer, Reply
from tests.integration.obeying import SECRET, Strangers


@pytest.fixture
def canary() -> Iterator[HttpServer]:
    with HttpServer({}, other=Reply(body=b"tweet")) as server:
        yield server


@pytest.fixture
def pages() -> Iterator[Strangers]:
    server = Strangers({})
    with server:
        yield server


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    workspace = tmp_path / "workspace"
    workspace.mkdir()
    (workspace / ".env").write_text(f"SERVICE_TOKEN={SECRET}\n")
    (workspace / "notes.txt").write_text("Ducks.\n")
    return workspace
