"""What becomes of the arguments that a hook answers."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.agent.test_hooks import Desk, ends, hook
from tests.agent.turns import call

pytestmark = pytest.mark.anyio

MOVED = """\
import json, sys
arguments = json.load(sys.stdin)["arguments"]
print(json.dumps(arguments | {"path": "b"}))
sys.exit(2)
"""
KEY = "sk-ant-" + "a1" * 20


@pytest.mark.parametrize("content", ["mine", f"key {KEY}", "x" * 900_000])
@pytest.mark.parametrize("tool", ["write_file", "diff_edit"])
async def test_what_a_hook_gives_back_as_it_was_told_keeps_its_true_value(
    tmp_path: Path, tool: str, content: str
) -> None:
    made = call(tool, json.dumps({"path": "a", "content": content}))

    permission = await Desk(tmp_path, hook(MOVED)).before(made)

    assert json.loads(permission.call.arguments) == {"path": "b", "content": content}


async def test_what_a_hook_changes_or_leaves_out_is_as_it_says(tmp_path: Path) -> None:
    made = call("write_file", '{"path": "a", "content": "mine", "more": 1}')
    desk = Desk(tmp_path, hook(ends(2, '{"path": "a", "content": "theirs", "new": "[redacted]"}')))

    permission = await desk.before(made)

    assert json.loads(permission.call.arguments) == {
        "path": "a",
        "content": "theirs",
        "new": "[redacted]",
    }


async def test_a_hook_may_answer_arguments_as_long_as_it_is_told(tmp_path: Path) -> None:
    made = call("shell", json.dumps({"command": "é" * 120_000, "path": "a"}))

    permission = await Desk(tmp_path, hook(MOVED)).before(made)

    assert json.loads(permission.call.arguments)["path"] == "b"


async def test_an_answer_that_is_no_object_is_told_as_that(tmp_path: Path) -> None:
    desk = Desk(tmp_path, hook(ends(2, "[1]")))

    await desk.before(call("echo"))

    assert "exit code 2, but no JSON object of up to 1 MB on its standard output" in desk.told[0]
