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
    """An Octo kernel connected to the model; shared by the tests of a module.

    Its long conversation is never summed up: a request more would be nobody's.
    """
    folder = tmp_path_factory.mktemp("octo")
    config = folder / "octo_lab" / "config.json"  # of the user: it is XDG_CONFIG_HOME
    config.parent.mkdir()
    config.write_text('{"version": 1, "session": {"compact": false}}')
    with kernel(folder, with_model(model)) as running:
        yield running
