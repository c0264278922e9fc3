"""Cost as a real kernel shows it: below a turn, in the status, in what a cell keeps."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from octo_lab.testing.llm_script import says
from octo_lab.testing.llm_server import LlmServer
from tests.notebook.kernels import kernel, with_model

pytestmark = pytest.mark.kernel

MODELS = {"openai/known": {"price_in": 2.0, "price_out": 10.0}}


def test_a_cost_is_shown_where_the_price_is_known_and_only_there(tmp_path: Path) -> None:
    (tmp_path / ".octo").mkdir()
    config = {"version": 1, "models": MODELS}
    (tmp_path / ".octo" / "config.json").write_text(json.dumps(config))
    answers = [says("ok", usage=(1000, 50, 0)) for _ in range(3)]
    with (
        LlmServer(*answers) as server,
        kernel(tmp_path, with_model(server, OCTO_TRUST_WORKSPACE="1")) as octo,
    ):
        begun = octo.run("%octo").everything
        known = octo.run("x = %octo -m openai/known hi").everything
        kept = octo.run("x.cost, x.usage.priced").value
        whole = octo.run("%octo").everything
        other = octo.run("y = %octo -m openai/gpt-4o hi again").everything
        nothing = octo.run("y.cost, y.usage.priced").value
        part = octo.run("%octo").everything
    assert "cost" not in begun.replace(str(tmp_path), "")
    assert "50 out · $0.0025 · " in known
    assert kept == "(0.0025, 1)"
    assert "$0.0025" in whole
    assert "at least" not in whole
    assert "1,000 tokens in · 50 out" in other
    assert "$" not in other
    assert nothing == "(None, 0)"
    assert "at least $0.0025" in part
