"""What each tool of a notebook declares of itself."""

from __future__ import annotations

import json
from typing import Any, NoReturn

import pytest
from IPython.core.interactiveshell import InteractiveShell

from octo_lab.notebook.channel import NAME, NotebookChannel
from octo_lab.notebook.toolkit import Toolkit
from octo_lab.tools.registry import builtin_tools
from octo_lab.tools.tool import Tool


def not_running() -> NoReturn:
    raise AssertionError("no tool runs here")


@pytest.fixture
def toolkit() -> Toolkit:
    shell: Any = InteractiveShell
    return Toolkit(shell(), not_running)


@pytest.fixture
def tools(toolkit: Toolkit) -> tuple[Tool, ...]:
    @toolkit.tool
    def mine(text: str) -> str:
        """Says it again."""
        return text

    return toolkit.all(NotebookChannel(), timeout=7.0)


def test_each_says_what_it_may_do_and_where_its_results_come_from(
    tools: tuple[Tool, ...],
) -> None:
    assert [(tool.name, tool.source, tool.risk, tool.asks) for tool in tools] == [
        ("python", "workspace", "execute", True),
        ("list_variables", "workspace", "read", False),
        ("inspect", "workspace", "read", False),
        ("propose_cell", "workspace", "read", False),
        ("mine", "workspace", "execute", False),
    ]


def test_none_is_for_a_turn_from_elsewhere(tools: tuple[Tool, ...]) -> None:
    assert {tool.name: tool.channels for tool in tools} == {
        tool.name: frozenset({NAME}) for tool in tools
    }
    assert {tool.group for tool in tools} == {"notebook"}


def test_each_is_described_and_has_a_name_of_its_own(tools: tuple[Tool, ...]) -> None:
    names = [tool.name for tool in (*tools, *builtin_tools())]
    assert len(set(names)) == len(names)
    assert all(tool.description for tool in tools)
    assert all(json.loads(json.dumps(dict(tool.schema)))["type"] == "object" for tool in tools)
    assert all(tool.hosts is None for tool in tools)
