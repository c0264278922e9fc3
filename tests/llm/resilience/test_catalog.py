from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from octo_lab.core.errors import ConfigError
from octo_lab.llm.resilience.catalog import entry_of, load_catalog, read_catalog
from octo_lab.llm.resilience.tally import Tally

GPT: dict[str, Any] = {
    "provider": "OpenAI/gpt-4o",
    "type": "strong",
    "stability": 0.84,
    "tool_avg_ms": 2000,
    "p95_ms": 9000,
    "score": 0.2,
    "cost_in": 2.5,
    "cost_out": 10,
    "ds_output": 812,
    "context_window": 128000,
    "max_output": 16384,
}


def test_an_entry_is_found_by_model_or_provider_in_any_case() -> None:
    catalog = read_catalog(json.dumps({"models": [GPT, {"provider": "groq", "stability": 0.5}]}))
    found = entry_of(catalog, "openai", "GPT-4o")
    other = entry_of(catalog, "groq", "llama")

    assert found is not None
    assert other is not None
    assert (found.price, found.ds_output, other.stability) == ((2.5, 10.0), 812.0, 0.5)
    assert entry_of(catalog, "openai", "o3") is None


def test_a_bare_list_will_do() -> None:
    assert list(read_catalog(json.dumps([GPT]))) == ["openai/gpt-4o"]


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("{", "it is no JSON"),
        ("[" * 100_000, "it is no JSON"),
        ('"x"', "models: "),
        ("{}", "models: "),
        (json.dumps([{**GPT, "stability": 1.5}]), "0.stability: Input should be less than"),
        (json.dumps([GPT, {"type": "fast"}]), "1.provider: Field required"),
        (json.dumps([{**GPT, "type": "slow"}]), "0.type: "),
        (json.dumps([{**GPT, "cost_in": -1}]), "0.cost_in: "),
    ],
)
def test_what_is_wrong_is_named(text: str, says: str) -> None:
    with pytest.raises(ConfigError) as refused:
        read_catalog(text, "my.json")
    assert refused.value.message.startswith("The catalogue 'my.json' cannot be used: ")
    assert says in refused.value.message


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"none\.json' cannot be read: No such file"):
        load_catalog(tmp_path / "none.json")


def test_a_name_that_none_can_have_and_a_huge_file_are_refused(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="cannot be read: embedded null byte"):
        load_catalog(Path("a\0b"))
    huge = tmp_path / "huge.json"
    huge.write_text(json.dumps([GPT]) + " " * 4_194_304)
    with pytest.raises(ConfigError, match="cannot be used: it has more than 4 MiB"):
        load_catalog(huge)


def test_an_entry_counts_as_ten_calls_made_before() -> None:
    tally = Tally(0.3, read_catalog(json.dumps([GPT]))["openai/gpt-4o"])

    assert (tally.calls, tally.error_rate, tally.first) == (0, 0.2, 2.0)
    assert sorted(tally.firsts) == [2.0] * 9 + [9.0]
