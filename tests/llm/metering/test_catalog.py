from __future__ import annotations

import json
from datetime import date

import pytest

from octo_lab.core.errors import ConfigError
from octo_lab.llm.metering.catalog import AS_OF, CATALOG, MODELS_FILE, Catalog, ModelInfo
from octo_lab.llm.metering.pricing import PRICES, Price
from octo_lab.llm.tokens import context_window

DATA = json.loads(MODELS_FILE.read_text(encoding="utf-8"))
GPT_4O = ModelInfo(
    id="gpt-4o",
    name="GPT-4o",
    provider="openai",
    context_window=128_000,
    max_output=16_384,
    capabilities=frozenset({"schema", "tools", "vision"}),
    cost=Price(input=2.5, output=10, cached=1.25, as_of=PRICES.as_of),
    aliases=("gpt-4o-2024-08-06", "gpt-4o-2024-11-20"),
)


@pytest.mark.parametrize("name", ["gpt-4o", "GPT-4O", "gpt-4o-2024-08-06", "openai/gpt-4o"])
def test_a_model_is_found_by_id_or_alias(name: str) -> None:
    assert CATALOG.find(name) == GPT_4O


def test_a_model_nobody_knows_is_not_found() -> None:
    assert CATALOG.find("gpt-4o-nonsense") is None
    assert CATALOG.find("") is None


@pytest.mark.parametrize(
    ("alias", "provider", "window"),
    [
        ("claude-sonnet-4", "anthropic", 200_000),
        ("claude-haiku-4-5", "anthropic", 200_000),
        ("gpt-4o", "openai", 128_000),
        ("gemini-2.5-flash", "gemini", 1_048_576),
    ],
)
def test_the_usual_models_are_known(alias: str, provider: str, window: int) -> None:
    found = CATALOG.find(alias)
    assert found is not None
    assert (found.provider, found.context_window, found.cost is None) == (provider, window, False)


def test_models_are_listed_by_provider_and_capability() -> None:
    assert [model.id for model in CATALOG.by_provider("DeepSeek")] == [
        "deepseek-chat",
        "deepseek-reasoner",
    ]
    reasoners = CATALOG.with_capability("reasoning")
    assert {"o3", "gpt-5", "deepseek-reasoner"} <= {model.id for model in reasoners}
    assert all("reasoning" in model.capabilities for model in reasoners)


def test_what_the_user_knows_wins() -> None:
    mine = CATALOG.with_entries(
        {
            "gpt-4o": {"context_window": 64_000, "cost": {"input": 1.0, "output": 2.0}},
            "mine": {"provider": "Ollama", "capabilities": ["tools"], "aliases": ["m"]},
        }
    )
    changed = mine.find("gpt-4o-2024-08-06")
    assert changed is not None
    assert (changed.context_window, changed.max_output, changed.cost) == (
        64_000,
        16_384,
        Price(input=1.0, output=2.0),
    )
    assert mine.find("M") == ModelInfo(
        id="mine", provider="ollama", capabilities=frozenset({"tools"}), aliases=("m",)
    )
    assert [model.id for model in mine.by_provider("ollama")] == ["llama3.2", "mine"]
    assert (context_window("gpt-4o", mine), context_window("gpt-4o")) == (64_000, 128_000)


@pytest.mark.parametrize(
    ("fields", "words"), [({"window": 1}, "'window'"), ({"capabilities": ["magic"]}, "'magic'")]
)
def test_a_field_or_capability_that_does_not_exist_is_refused(
    fields: dict[str, object], words: str
) -> None:
    with pytest.raises(ConfigError, match=words):
        CATALOG.with_entries({"mine": fields})


def test_the_data_are_dated_sorted_and_sane() -> None:
    assert date(2025, 1, 1) <= AS_OF == date.fromisoformat(DATA["as_of"])
    keys = [(entry["provider"], entry["id"].lower()) for entry in DATA["models"]]
    assert keys == sorted(keys)
    for model in CATALOG.models:
        assert model.context_window is not None
        assert 8_000 <= model.context_window <= 10_000_000, model.id
        assert 1_000 <= (model.max_output or 1_000) <= model.context_window, model.id


def test_every_id_and_alias_means_one_model() -> None:
    names = [name.lower() for model in CATALOG.models for name in (model.id, *model.aliases)]
    assert len(names) == len(set(names))
    for model in CATALOG.models:
        assert [CATALOG.find(name) for name in (model.id, *model.aliases)] == [model] * (
            1 + len(model.aliases)
        )


def test_the_later_of_two_with_one_name_counts() -> None:
    first, second = ModelInfo(id="a", aliases=("b",)), ModelInfo(id="B", max_output=1)
    assert Catalog([first, second]).find("b") == second
