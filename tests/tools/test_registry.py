from __future__ import annotations

import json
import logging
import sys
from collections.abc import Iterator
from dataclasses import replace
from importlib.metadata import EntryPoint
from pathlib import Path

import pytest

from octo_lab.security.net.client import GuardedClient
from octo_lab.tools.policy import select_tools
from octo_lab.tools.powers import Powers
from octo_lab.tools.registry import GROUP, builtin_tools, plugin_tools
from tests.tools.web.conftest import NoPrograms

MODULE = """
from dataclasses import replace
from octo_lab.tools.builtin.grep import TOOL
ONE = replace(TOOL, name="one")
TWO = [replace(TOOL, name="two"), replace(TOOL, name="one")]
TAKEN = TOOL
NOT_A_TOOL = 5
"""


@pytest.fixture
def plugin(tmp_path: Path) -> Iterator[str]:
    (tmp_path / "octo_plugin_of_a_test.py").write_text(MODULE)
    sys.path.insert(0, str(tmp_path))
    yield "octo_plugin_of_a_test"
    sys.path.remove(str(tmp_path))
    sys.modules.pop("octo_plugin_of_a_test", None)


def test_the_built_in_tools_have_names_of_their_own_and_valid_schemas() -> None:
    tools = builtin_tools()

    names = [tool.name for tool in tools]
    assert {"read_file", "list_dir", "grep"} <= set(names)
    assert len(set(names)) == len(names)
    assert all(tool.description and tool.group for tool in tools)
    assert all(json.loads(json.dumps(dict(tool.schema)))["type"] == "object" for tool in tools)


@pytest.mark.parametrize(
    ("group", "names"),
    [
        ("web", "web_search web_fetch http_request browser site_crawl deep_search"),
        ("search", "glob list_dir grep web_search"),
        ("runtime", "shell exec_session git"),
        ("research", "site_crawl deep_search"),
        ("media", "take_photo"),
    ],
)
def test_a_group_names_every_tool_of_its_kind(group: str, names: str) -> None:
    made = builtin_tools(Powers(exec=NoPrograms(), web=GuardedClient()))
    tools = [replace(tool, missing="") for tool in made]

    offered = select_tools(tools, channel="notebook", allow=(f"group:{group}",))
    left = select_tools(tools, channel="notebook", deny=(f"group:{group}",))

    assert [tool.name for tool in offered] == names.split()
    assert len(left) == len(tools) - len(offered)


def test_a_broken_plugin_is_reported_and_the_others_work(
    plugin: str, caplog: pytest.LogCaptureFixture
) -> None:
    entries = [
        EntryPoint("one", f"{plugin}:ONE", GROUP),
        EntryPoint("gone", "no_such_module_at_all:TOOL", GROUP),
        EntryPoint("two", f"{plugin}:TWO", GROUP),
        EntryPoint("taken", f"{plugin}:TAKEN", GROUP),
        EntryPoint("odd", f"{plugin}:NOT_A_TOOL", GROUP),
    ]

    with caplog.at_level(logging.WARNING):
        loaded = plugin_tools(entries)

    assert [tool.name for tool in loaded.tools] == ["one", "two"]
    assert loaded.problems == (
        "The tool plugin 'gone' could not be loaded: ModuleNotFoundError: No module named "
        "'no_such_module_at_all'",
        "The tool 'one' of plugin 'two' is left out: the name is taken",
        "The tool 'grep' of plugin 'taken' is left out: the name is taken",
        "The tool plugin 'odd' gives int, not a Tool",
    )
    assert "Tool plugin 'gone'" in caplog.text


def test_without_plugins_there_is_nothing_to_report() -> None:
    loaded = plugin_tools()

    assert loaded.problems == ()
