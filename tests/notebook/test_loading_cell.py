from __future__ import annotations

from pathlib import Path

import pytest

from octo_lab.testing.llm_server import LlmServer
from tests.notebook.kernels import PLAIN, kernel, with_model

pytestmark = pytest.mark.kernel


def test_the_cell_that_loads_the_extension_may_use_it(model: LlmServer, tmp_path: Path) -> None:
    with kernel(tmp_path, with_model(model), argv=PLAIN) as plain:
        ran = plain.run("a = 1\n%load_ext octo_lab\n%octo what is {{ a }} in this?")
        assert "echo: what is 1 in this?" in ran.value
        assert len(ran.of("display_data")) == 1
        assert not ran.of("execute_result")
        assert plain.run("%reload_ext octo_lab\n%octo is it?\n'after'").value == "'after'"
        assert model.requests[-1].body["messages"][-1]["content"] == "is it?"


def test_other_statements_of_that_cell_run_once(tmp_path: Path) -> None:
    with kernel(tmp_path, argv=PLAIN) as plain:
        ran = plain.run("seen = [1]\n%load_ext octo_lab\nseen.append(2)\nif 1:\n    pass\nseen")
        assert ran.value == "[1, 2]"
