"""There is one place where a turn begins, whichever face asked."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

import octo_lab

ROOT = Path(octo_lab.__file__).parent


def callers(name: str) -> set[str]:
    return {
        path.relative_to(ROOT).as_posix()
        for path in ROOT.rglob("*.py")
        if "testing" not in path.parts and _calls(ast.parse(path.read_text(encoding="utf-8")), name)
    }


@pytest.mark.parametrize(
    ("name", "place"),
    [
        ("Agent", "session/agents.py"),
        ("TurnController", "session/run.py"),
        ("begin_turn", "session/run.py"),
        ("finish_turn", "session/run.py"),
    ],
)
def test_only_the_session_runs_turns(name: str, place: str) -> None:
    assert callers(name) == {place}


def test_no_face_starts_a_worker() -> None:
    users = {user for name in ("Workers", "Router", "Controls") for user in callers(name)}

    assert users == {"app.py"}


def _calls(tree: ast.Module, name: str) -> bool:
    used = [node for node in ast.walk(tree) if isinstance(node, ast.Call)]
    named = [arg for call in used for arg in (call.func, *call.args)]
    return any(isinstance(node, ast.Name) and node.id == name for node in named)
