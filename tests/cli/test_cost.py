"""What a turn cost, as the commands show it: real processes and servers."""

from __future__ import annotations

import json

import pytest

from octo_lab.testing.llm_script import says
from octo_lab.testing.llm_server import LlmServer
from tests.cli.octo import Octo

MODELS = {"openai/known": {"price_in": 2.0, "price_out": 10.0}}
COST = (1000 * 2.0 + 50 * 10.0) / 1e6


@pytest.fixture
def own(octo: Octo, server: LlmServer) -> Octo:
    """A workspace in which the price of one model is known."""
    octo("init")
    path = octo.workspace / ".octo" / "config.json"
    path.write_text(json.dumps({"version": 1, "models": MODELS}))
    octo.trust()
    server.script(*(says("ok", usage=(1000, 50, 0)) for _ in range(2)))
    return octo.with_model(server)


@pytest.mark.parametrize(("model", "cost"), [("known", COST), ("gpt-4o", None)])
def test_json_has_a_cost_or_null(own: Octo, model: str, cost: float | None) -> None:
    answer = own("run", "--json", "-m", f"openai/{model}", "hi").json
    assert answer["cost"] == (None if cost is None else pytest.approx(cost))
    assert (answer["usage"]["requests"], answer["usage"]["priced"]) == (1, int(cost is not None))


def test_status_shows_a_known_cost_and_no_guess(own: Octo) -> None:
    assert "\ncost " not in own("status").out
    for model in ("known", "gpt-4o"):
        assert own("run", "-s", "trip", "-m", f"openai/{model}", "hi").code == 0
    assert own("run", "-s", "trip", "/switch trip").code == 0
    assert "\ncost         at least $0.0025 (list prices of " in own("status").out
