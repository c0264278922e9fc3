from __future__ import annotations

import pytest

from octo_lab.core.errors import UsageError
from octo_lab.llm.resilience.router import ModelRouter, SubModel
from tests.llm.resilience.models import scripted, slot


class Time:
    now = 0.0

    def __call__(self) -> float:
        return self.now


def router(*keys: str, time: Time | None = None, **ranks: float) -> ModelRouter:
    models = [
        SubModel(key=key, slot=slot(scripted(key)), max_output=1000 * place or None)
        for place, key in enumerate(keys)
    ]
    return ModelRouter(models, ranks=lambda: ranks, clock=time or Time())


@pytest.mark.parametrize(
    ("name", "key"),
    [
        ("cheap", "cheap"),
        ("CHEAP", "cheap"),
        ("Cheap", "Cheap"),
        ("cheap/anything/else", "cheap"),
        ("gpt-4o", "openai/gpt-4o"),
        ("openai/GPT-4o", "openai/gpt-4o"),
    ],
)
def test_a_name_is_found_exactly_then_ever_more_loosely(name: str, key: str) -> None:
    assert router("cheap", "Cheap", "openai/gpt-4o").resolve(name).key == key


def test_an_unknown_name_gets_the_nearest() -> None:
    with pytest.raises(UsageError) as near:
        router("strong", "cheap").resolve("chaep")
    with pytest.raises(UsageError) as far:
        router("strong", "cheap").resolve("xyz")
    assert (near.value.hint, far.value.hint) == ("did you mean 'cheap'?", "known: strong, cheap")


def test_a_failure_under_any_name_cools_the_same_model() -> None:
    time = Time()
    made = router("openai/gpt-4o", time=time)
    made.failed("gpt-4o")
    assert made.cooling("OPENAI/gpt-4o") == 60.0
    time.now = 60.0
    assert made.cooling("openai/gpt-4o") == 0.0


def test_fallbacks_can_say_enough_are_well_and_come_by_rank() -> None:
    made = router("a", "b", "c", "d", a=0.1, b=0.9, c=0.2)

    def keys(needed: int) -> list[str]:
        return [model.key for model in made.compatible_fallbacks("b", needed)]

    assert [keys(0), keys(2000), keys(2500)] == [["a", "c", "d"], ["a", "c", "d"], ["a", "d"]]
    made.failed("c")
    assert keys(0) == ["a", "d"]


def test_what_a_model_reads_to_choose_one() -> None:
    known = SubModel(
        key="cheap",
        slot=slot(scripted("x")),
        about="fast and small",
        context_window=128_000,
        price=(0.15, 0.6),
    )
    unknown = SubModel(key="other", slot=slot(scripted("y")))
    assert known.cost_hint == "$0.15/1M in, $0.6/1M out"
    assert known.line == (
        "cheap: fast and small, 128,000 tokens of context, $0.15/1M in, $0.6/1M out"
    )
    assert (unknown.cost_hint, unknown.line) == ("", "other")
