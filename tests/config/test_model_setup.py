from __future__ import annotations

from pathlib import Path

from octo_lab.config.model_setup import model_setup
from octo_lab.config.settings import Settings
from octo_lab.llm.http import ModelHttp
from octo_lab.llm.local.policy import LocalPolicy
from octo_lab.llm.resilience.plan import RoutingPlan
from octo_lab.llm.secret import Secret
from octo_lab.llm.setup import ModelFacts, ModelSetup, ProviderFacts

WORKSPACE = Path("/lab")


def setup(**settings: object) -> ModelSetup:
    return model_setup(
        Settings.model_validate(settings),
        workspace=WORKSPACE,
        http=ModelHttp(),
        environ={},
        sources={},
        variables={},
    )


def test_what_is_set_of_a_model_reaches_the_model_layer() -> None:
    made = setup(
        models={
            "openai/gpt-x": {
                "hints": {"vision": False},
                "context_window": 8192,
                "price_in": 1,
                "price_out": 2,
            }
        }
    )
    assert made.models == {
        "openai/gpt-x": ModelFacts(
            hints=(("vision", False),), context_window=8192, price_in=1.0, price_out=2.0
        )
    }


def test_paths_are_relative_to_the_workspace() -> None:
    made = setup(
        fallbacks=["ollama/x"],
        routing={"mode": "lane", "qos": True, "escalate": False, "catalog": "models.json"},
        local={"detect": False, "model": "small.gguf", "threads": 2},
    )
    assert made.routing == RoutingPlan(
        fallbacks=("ollama/x",),
        mode="lane",
        qos=True,
        escalate=False,
        catalog=WORKSPACE / "models.json",
    )
    assert made.local == LocalPolicy(detect=False, model="/lab/small.gguf", threads=2)


def test_a_home_of_nobody_is_a_name_like_any_other() -> None:
    assert setup(local={"model": "~nobody-here/x.gguf"}).local.model == "/lab/~nobody-here/x.gguf"


def test_blanks_round_a_key_and_an_address_are_no_part_of_them() -> None:
    made = setup(
        providers={
            "openai": {"api_key": " sk-1\n", "base_url": " http://h/v1 "},
            "groq": {"api_key": "  "},
        }
    )
    assert made.providers == {
        "openai": ProviderFacts(api_key=Secret("sk-1"), base_url="http://h/v1"),
        "groq": ProviderFacts(),
    }


def test_servers_of_this_machine_are_looked_for_unless_switched_off() -> None:
    assert setup().local == LocalPolicy(detect=True)


def test_a_variable_names_a_model_or_switches_the_search_off() -> None:
    def local(**environ: str) -> LocalPolicy:
        return model_setup(
            Settings(),
            workspace=WORKSPACE,
            http=ModelHttp(),
            environ=environ,
            sources={},
            variables={},
        ).local

    assert local(OCTO_LOCAL_MODEL=" small.gguf ").model == "/lab/small.gguf"
    for value, detect in (("", True), ("on", True), ("off", False), ("0", False), ("No", False)):
        assert local(OCTO_LOCAL_DETECT=value).detect is detect


def test_slow_answers_change_no_mode_that_was_chosen() -> None:
    def escalates(**routing: object) -> bool:
        return setup(routing=routing).routing.escalate

    assert [escalates(), escalates(qos=True)] == [True, True]
    assert [escalates(mode="off"), escalates(mode="lane", escalate=True)] == [False, True]
