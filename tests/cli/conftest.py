from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from octo_lab.testing.llm_server import LlmServer
from tests.cli.octo import Octo


@pytest.fixture
def octo(tmp_path: Path) -> Octo:
    return Octo(folder=tmp_path)


@pytest.fixture
def server() -> Iterator[LlmServer]:
    with LlmServer() as server:
        yield server
