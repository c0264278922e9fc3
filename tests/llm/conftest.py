from __future__ import annotations

from collections.abc import AsyncGenerator, Iterator

import pytest
from hypothesis import HealthCheck, settings

from octo_lab.llm.http import HttpTimeouts, ModelHttp
from octo_lab.testing.llm_server import LlmServer

# How long an example takes says more about the machine than about the code.
settings.register_profile("calm", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("calm")


@pytest.fixture
def server() -> Iterator[LlmServer]:
    with LlmServer() as running:
        yield running


@pytest.fixture
async def http() -> AsyncGenerator[ModelHttp]:
    async with ModelHttp(HttpTimeouts(connect=5, read=5)) as client:
        yield client
