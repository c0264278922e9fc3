from __future__ import annotations

import logging
import sys
from collections.abc import Iterator
from importlib.metadata import EntryPoint
from pathlib import Path

import pytest

from octo_lab.llm.plugins import GROUP, PluginProblem, plugin_providers
from octo_lab.llm.registry import BUILTIN

MODULE = """
from octo_lab.llm.entry import ProviderEntry
from octo_lab.llm.wires.chat.wire import CHAT
ONE = ProviderEntry(name="one", wire=CHAT)
TWO = [ProviderEntry(name="two", wire=CHAT), ProviderEntry(name="One", wire=CHAT)]
TAKEN = ProviderEntry(name="mine", aliases=("Kimi",), wire=CHAT)
MUTE = ProviderEntry(name="mute")
NUMBER = 5
"""


@pytest.fixture
def plugin(tmp_path: Path) -> Iterator[str]:
    (tmp_path / "octo_providers_of_a_test.py").write_text(MODULE)
    sys.path.insert(0, str(tmp_path))
    yield "octo_providers_of_a_test"
    sys.path.remove(str(tmp_path))
    sys.modules.pop("octo_providers_of_a_test", None)


def point(plugin: str, name: str) -> EntryPoint:
    return EntryPoint(name=name.lower(), value=f"{plugin}:{name}", group=GROUP)


def test_an_outsiders_providers_are_loaded_in_order(plugin: str) -> None:
    loaded = plugin_providers(BUILTIN, [point(plugin, "ONE")])
    assert ([one.name for one in loaded.providers], loaded.problems) == (["one"], ())


@pytest.mark.parametrize(
    ("name", "problem"),
    [
        ("TWO", "The provider 'One' of plugin 'two' is left out: 'one' is taken"),
        ("TAKEN", "The provider 'mine' of plugin 'taken' is left out: 'kimi' is taken"),
        ("MUTE", "The provider plugin 'mute' gives ProviderEntry, which cannot be used"),
        ("NUMBER", "The provider plugin 'number' gives int, which cannot be used"),
    ],
)
def test_what_cannot_be_used_is_said_in_one_line(plugin: str, name: str, problem: str) -> None:
    loaded = plugin_providers(BUILTIN, [point(plugin, "ONE"), point(plugin, name)])
    assert loaded.problems == (PluginProblem(name.lower(), problem),)
    assert loaded.providers[0].name == "one"


def test_a_broken_plugin_is_reported_and_the_others_work(
    plugin: str, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.WARNING):
        loaded = plugin_providers(BUILTIN, [point(plugin, "GONE"), point(plugin, "ONE")])
    assert [one.name for one in loaded.providers] == ["one"]
    assert "'gone' could not be loaded: AttributeError" in loaded.problems[0].line
    assert "Provider plugin 'gone'" in caplog.text
