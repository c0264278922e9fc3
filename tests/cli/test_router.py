"""``octo router``: the models that share the work."""

from __future__ import annotations

import json

from octo_lab.core.words import ROUTER_ALONE, ROUTER_COLUMNS
from octo_lab.testing.llm_server import LlmServer
from tests.cli.octo import Octo


def test_the_models_that_share_the_work_are_listed_and_what_is_unknown_a_dash(octo: Octo) -> None:
    octo("init")
    with LlmServer() as one, LlmServer() as two:
        said = {
            "version": 1,
            "model": "one/m",
            "fallbacks": ["two/m"],
            "routing": {"mode": "lane"},
            "providers": {"one": {"base_url": one.base_url}, "two": {"base_url": two.base_url}},
        }
        (octo.workspace / ".octo" / "config.json").write_text(json.dumps(said))
        octo.trust()
        text = octo("router").out.splitlines()
        data = octo("router", "--json").json
    assert text[0].startswith("mode: lane")
    assert tuple(text[1].split()) == ROUTER_COLUMNS
    assert [line.split()[:3] for line in text[2:]] == [
        ["one/m", "closed", "0"],
        ["two/m", "closed", "0"],
    ]
    assert [(slot["name"], slot["cost"]) for slot in data["slots"]] == [
        ("one/m", None),
        ("two/m", None),
    ]


def test_one_model_alone_says_how_to_add_others(octo: Octo) -> None:
    assert octo("router").out.splitlines()[-1] == ROUTER_ALONE
