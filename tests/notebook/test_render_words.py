from __future__ import annotations

import json

import pytest

from octo_lab.core.turns import ToolBlock
from octo_lab.notebook.render_words import gist_of


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
