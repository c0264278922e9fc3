from __future__ import annotations

import json
from dataclasses import replace

import pytest

from octo_lab.core.messages import Usage
from octo_lab.core.turns import ToolBlock, TurnSnapshot
from octo_lab.notebook.render_words import footer_parts, gist_of

TOKENS = Usage(input_tokens=1200, output_tokens=34, requests=2)


@pytest.mark.parametrize(
    ("usage", "cost"),
    [
        (TOKENS, []),
        (replace(TOKENS, cost=0.0042, priced=2), ["$0.0042"]),
        (replace(TOKENS, cost=0.0042, priced=1), ["at least $0.0042"]),
    ],
)
def test_a_footer_names_a_cost_only_as_far_as_it_is_known(usage: Usage, cost: list[str]) -> None:
    turn = TurnSnapshot(
        turn_id="t",
        message_id="m",
        session="s",
        revision=1,
        state="completed",
        prompt="hi",
        usage=usage,
        model="openai/gpt-4o",
        seconds=2.0,
    )
    assert footer_parts(turn) == ["openai/gpt-4o", "1,200 tokens in", "34 out", *cost, "2.0 s"]


def call(**arguments: object) -> ToolBlock:
    return ToolBlock(call_id="c", name="t", arguments=json.dumps(arguments), state="ok")


@pytest.mark.parametrize(
    ("code", "gist"),
    [
        ("total = 1", "total = 1"),
        ("total = 1\n\n", "total = 1"),
        ("total = 1\n\ntotal", "total = 1 … +1 line"),
        ("\nimport time\nfor n in range(9):\n    time.sleep(n)\nn", "import time … +3 lines"),
        ("", ""),
    ],
)
def test_a_call_of_several_lines_says_how_many_follow_the_first(code: str, gist: str) -> None:
    assert gist_of(call(code=code)) == gist


def test_a_call_of_another_tool_names_its_arguments() -> None:
    assert gist_of(call(path="a.txt", limit=3)) == 'path="a.txt", limit=3'
