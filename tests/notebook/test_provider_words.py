"""``%octo models``, ``%octo providers`` and the cassette magics in a real kernel."""

from __future__ import annotations

from pathlib import Path

import pytest

from octo_lab.testing.llm_server import LlmServer
from tests.notebook.kernels import kernel, with_model

pytestmark = pytest.mark.kernel


def test_models_providers_and_sources_are_shown_without_a_secret(tmp_path: Path) -> None:
    with LlmServer(models=["only-one"]) as server:
        key = {"OPENAI_API_KEY": "sk-secret0123456789abcdefghij"}
        with kernel(tmp_path, with_model(server, **key)) as octo:
            models = octo.run("%octo models").everything
            providers = octo.run("%octo providers").everything
            status = octo.run("%octo").everything
    assert "Now: `openai/only-one`" in models
    assert "reached; base URL: http://127.0.0.1" in providers
    for shown in (providers, status):
        assert "sk-…ij (from environment OPENAI_API_KEY)" in shown
        assert "secret0123" not in shown


def test_a_cassette_is_one_line_at_each_step(tmp_path: Path) -> None:
    with LlmServer() as server, kernel(tmp_path, with_model(server)) as octo:
        begun = octo.run("%octo_record demo.json").everything
        octo.run("%octo hello")
        ended = octo.run("%octo_record off").everything
        octo.run("%octo_record empty.json")
        empty = octo.run("%octo_record off").everything
    assert "Recording model traffic to 'demo.json'." in begun
    assert "Recorded 1 request in 'demo.json'." in ended
    assert "Nothing was recorded in 'empty.json'" in empty


def test_a_provider_is_tested_with_one_real_question(tmp_path: Path) -> None:
    with LlmServer(models=["only-one"], api_key="sk-right0123456789abcdefghij") as server:
        key = {"OPENAI_API_KEY": "sk-wrong0123456789abcdefghij"}
        with kernel(tmp_path, with_model(server, **key)) as octo:
            failed = octo.run("%octo providers test openai/only-one").everything
            server.api_key = "sk-wrong0123456789abcdefghij"
            passed = octo.run("%octo providers test openai/only-one").everything
    assert "failed: auth rejected" in failed
    assert "it was asked with the key sk-…ij (from environment OPENAI_API_KEY)" in failed
    assert "it answers" in passed
    assert len(server.requests) == 2
