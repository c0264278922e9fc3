"""A model may write any arguments: a hook is told them, and the turn goes on."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from octo_lab.agent.ports import Permission
from tests.agent.test_hooks import SAVE, Desk, hook
from tests.agent.turns import call

pytestmark = pytest.mark.anyio


async def test_a_hook_is_told_arguments_that_are_no_unicode(tmp_path: Path) -> None:
    desk = Desk(tmp_path, hook(SAVE, str(tmp_path / "seen")))
    odd = call("echo", '{"text": "a\\ud800b", "\\udfff": 1}')

    assert await desk.before(odd) == Permission(call=odd)

    told = json.loads((tmp_path / "seen").read_bytes())["arguments"]
    assert told == {"text": "a\ufffdb", "\ufffd": 1}


@pytest.mark.parametrize("depth", [450, 900, 100_000])
async def test_a_hook_is_told_arguments_that_are_nested_deep(tmp_path: Path, depth: int) -> None:
    deny = "import json, sys; json.load(sys.stdin)['arguments']['text'].strip(); sys.exit(0)"
    desk = Desk(tmp_path, hook(deny))
    deep = call("echo", f'{{"text": {"[" * depth}{"]" * depth}}}')

    assert (await desk.before(deep)).refused is not None
