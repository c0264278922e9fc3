from __future__ import annotations

from dataclasses import asdict
from typing import Any

import pytest

from octo_lab.core.errors import ConfigError
from octo_lab.llm.hints import ModelHints, model_hints


def unusual(model: str) -> dict[str, Any]:
    """The hints of a model that differ from those of an unknown one."""
    plain = asdict(ModelHints())
    return {
        name: value for name, value in asdict(model_hints(model)).items() if value != plain[name]
    }


@pytest.mark.parametrize(
    ("model", "longer", "fixed", "vision"),
    [
        ("gpt-4o", False, False, True),
        ("gpt-4.1", True, False, True),
        ("gpt-4.1-nano", True, True, True),
        ("gpt-4.1-nano-2025", True, False, True),
        ("gpt-5-mini", True, True, True),
        ("o1", True, True, True),
        ("O3-mini", True, True, True),
        ("openai/o4-mini", True, True, True),
        ("solo1", False, False, True),
        ("kimi-k2.5", False, True, False),
        ("moonshotai/Kimi-K2-Instruct", False, True, False),
        ("kimi-latest", False, False, False),
        ("moonshot-v1-8k", False, False, False),
        ("deepseek-chat", False, False, False),
        ("deepseek/deepseek-r1", False, False, False),
        ("MiniMax-Text-01", False, False, False),
        ("mistral-large", False, False, False),
        ("codestral-22b", False, False, False),
        ("yi-34b", False, False, False),
        ("claude-sonnet-4-20250514", False, False, True),
        ("llama3.2", False, False, True),
    ],
)
def test_a_name_tells_what_the_model_wants(
    model: str, longer: bool, fixed: bool, vision: bool
) -> None:
    hints = model_hints(model)
    told = (hints.completion_tokens, hints.fixed_temperature, hints.vision)
    assert told == (longer, fixed, vision)


@pytest.mark.parametrize(
    ("model", "reasoning"),
    [
        ("kimi-k2-thinking", "stubbed"),
        ("deepseek-chat", "kept"),
        ("deepseek-ai/DeepSeek-V4", "kept"),
        ("glm-5", "kept"),
        ("gpt-4o", "dropped"),
        ("qwen3", "dropped"),
    ],
)
def test_earlier_thinking_goes_back_to_whom_it_helps(model: str, reasoning: str) -> None:
    assert model_hints(model).reasoning == reasoning


def test_only_models_that_reason_are_told_how_much() -> None:
    told = {m: model_hints(m) for m in ("o1", "o3-mini", "o1-mini", "gpt-5", "gpt-4o")}
    assert {name: (hints.effort, hints.minimal) for name, hints in told.items()} == {
        "o1": (True, False),
        "o3-mini": (True, False),
        "o1-mini": (False, False),
        "gpt-5": (True, True),
        "gpt-4o": (False, False),
    }


def test_of_an_unknown_model_nothing_unusual_is_believed() -> None:
    assert unusual("smollm2") == {}


def test_what_the_user_says_wins() -> None:
    hints = model_hints("kimi-k2.5", [("fixed_temperature", False), ("reasoning", "dropped")])
    assert (hints.fixed_temperature, hints.reasoning, hints.vision) == (False, "dropped", False)


@pytest.mark.parametrize(
    ("override", "message"),
    [
        (("visoin", True), "No hint is named 'visoin' (did you mean 'vision'? known: "),
        (("zzz", True), "No hint is named 'zzz' (known: completion_tokens, "),
        (("vision", "no"), "The hint 'vision' cannot be 'no' (it may be: true, false)"),
        (("system", "boss"), "cannot be 'boss' (it may be: system, developer, user)"),
        (("system", True), "The hint 'system' cannot be True"),
    ],
)
def test_a_mistaken_override_names_what_is_known(
    override: tuple[str, bool | str], message: str
) -> None:
    with pytest.raises(ConfigError) as caught:
        model_hints("m", [override])
    assert message in str(caught.value)
