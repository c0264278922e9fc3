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
    ("name", "places"),
    [
        ("Agent", {"session/agents.py"}),
        ("TurnController", {"session/begin.py"}),
        # What a person calls by hand is kept as a turn, so that it can be taken back like one.
        ("begin_turn", {"session/begin.py", "session/by_hand.py"}),
        ("finish_turn", {"session/run.py", "session/by_hand.py"}),
    ],
)
def test_only_the_session_runs_turns(name: str, places: set[str]) -> None:
    assert callers(name) == places


def test_no_face_starts_a_worker() -> None:
    users = {user for name in ("Workers", "Router", "Controls") for user in callers(name)}

    assert users == {"app.py"}


def test_one_place_asks_a_model_and_tells_the_hooks() -> None:
    asking = {
        path.relative_to(ROOT).as_posix()
        for path in ROOT.rglob("*.py")
        if path.relative_to(ROOT).parts[0] not in ("llm", "testing", "security")
        and _streams(ast.parse(path.read_text(encoding="utf-8")))
    }

    assert asking == {"agent/model_call.py"}


def _streams(tree: ast.Module) -> bool:
    """Whether anything called ``provider``, or that of something, is asked for a stream."""
    called = (node.func for node in ast.walk(tree) if isinstance(node, ast.Call))
    return any(
        isinstance(func, ast.Attribute)
        and func.attr == "stream"
        and ast.unparse(func.value).endswith("provider")
        for func in called
    )


def _calls(tree: ast.Module, name: str) -> bool:
    used = [node for node in ast.walk(tree) if isinstance(node, ast.Call)]
    named = [arg for call in used for arg in (call.func, *call.args)]
    return any(isinstance(node, ast.Name) and node.id == name for node in named)
