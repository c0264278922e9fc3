from __future__ import annotations

from collections.abc import Iterator

import pytest

from octo_lab.testing.llm_server import LlmServer
from tests.notebook.kernels import Kernel, kernel, with_model


@pytest.fixture(scope="module")
def model() -> Iterator[LlmServer]:
    """A model server that repeats what it is asked, unless scripted."""
    with LlmServer() as server:
        yield server


@pytest.fixture(scope="module")
def octo(model: LlmServer, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Kernel]:
    """An Octo kernel connected to the model; shared by the tests of a module."""
    with kernel(tmp_path_factory.mktemp("octo"), with_model(model)) as running:
        yield running
