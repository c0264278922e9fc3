from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from octo_lab.testing.llm_server import LlmServer
from tests.notebook.kernels import Kernel, kernel

pytestmark = pytest.mark.kernel


def configure(folder: Path, values: Any) -> None:
    (folder / ".octo").mkdir(exist_ok=True)
    text = values if isinstance(values, str) else json.dumps(values)
    (folder / ".octo" / "config.json").write_text(text)


def keys(model: LlmServer) -> str:
    return str(model.requests[-1].headers.get("authorization"))


@pytest.fixture
def fresh(tmp_path: Path) -> Any:
    """A kernel that knows no model, with its runtime open."""
    with kernel(tmp_path, {"OCTO_TRUST_WORKSPACE": "1"}) as running:
        assert "offline" in running.run("%octo status").value
        yield running


def test_a_key_set_in_a_cell_is_used_by_the_next_turn(fresh: Kernel, model: LlmServer) -> None:
    fresh.run(f"%env OPENAI_BASE_URL={model.base_url}")
    fresh.run("%env OPENAI_API_KEY=sk-first")
    assert "echo: one" in fresh.run("%octo -m openai/gpt-4o one").value
    assert keys(model) == "Bearer sk-first"
    fresh.run("import os; os.environ['OPENAI_API_KEY'] = 'sk-second'")
    assert "echo: two" in fresh.run("%octo -m openai/gpt-4o two").value
    assert keys(model) == "Bearer sk-second"


def test_changed_settings_hold_from_the_next_turn_on(
    fresh: Kernel, model: LlmServer, tmp_path: Path
) -> None:
    server = {"base_url": model.base_url, "api_key": "sk-file"}
    configure(tmp_path, {"model": "openai/gpt-4o", "providers": {"openai": server}})
    assert "echo: one" in fresh.run("%octo one").value
    assert keys(model) == "Bearer sk-file"
    denying = {"tools": {"deny": ["grep"]}, "session": {"workers": 2}}
    configure(tmp_path, {"model": "openai/other", "providers": {"openai": server}, **denying})
    told = fresh.run("%octo two").value
    assert "[Restart the kernel or gateway to apply: session.workers]" in told
    body = model.requests[-1].body
    assert body["model"] == "other"
    assert "grep" not in [tool["function"]["name"] for tool in body["tools"]]


def test_settings_that_cannot_be_read_change_nothing(
    fresh: Kernel, model: LlmServer, tmp_path: Path
) -> None:
    server = {"base_url": model.base_url, "api_key": "sk-file"}
    configure(tmp_path, {"model": "openai/gpt-4o", "providers": {"openai": server}})
    assert "gpt-4o" in fresh.run("%octo status").value
    fresh.run("%octo one")
    configure(tmp_path, '{"modle": 1}')
    told = fresh.run("%octo two").value
    assert "The changed settings are not used" in told
    assert "did you mean 'model'?" in told
    assert "echo: two" in told
    assert "settings" not in fresh.run("%octo three").value
