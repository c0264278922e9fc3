from __future__ import annotations

import pytest

from octo_lab.core.messages import Message, ToolCall
from octo_lab.llm.hints import ModelHints, model_hints
from octo_lab.llm.tokens import context_window, estimate_tokens, message_tokens


@pytest.mark.parametrize(
    ("text", "tokens"), [("", 1), ("abcd" * 10, 10), ("\u4f60\u597d\u5417", 2), ("ab\u4f60", 1)]
)
def test_a_text_is_estimated(text: str, tokens: int) -> None:
    assert estimate_tokens(text) == tokens


def test_a_message_counts_its_calls() -> None:
    call = ToolCall(id="1", name="read", arguments='{"a": 1}')
    assert message_tokens(Message(role="assistant", content="abcd", tool_calls=(call,))) == 8


@pytest.mark.parametrize(
    ("model", "window"),
    [("gpt-4o-mini", 128_000), ("o3", 200_000), ("gemini-2.0-flash", 1_000_000), ("x", 128_000)],
)
def test_a_window_is_told_from_the_name(model: str, window: int) -> None:
    assert context_window(model) == window


@pytest.mark.parametrize(
    ("model", "hints"),
    [
        ("gpt-4o", ModelHints()),
        ("o3-mini", ModelHints(completion_tokens=True, fixed_temperature=True)),
        ("openai/gpt-5", ModelHints(completion_tokens=True, fixed_temperature=True)),
        ("gpt-4.1", ModelHints(completion_tokens=True)),
        ("gpt-4.1-nano", ModelHints(completion_tokens=True, fixed_temperature=True)),
        ("kimi-k2", ModelHints(fixed_temperature=True, vision=False)),
        ("deepseek-chat", ModelHints(vision=False)),
    ],
)
def test_hints_are_told_from_the_name(model: str, hints: ModelHints) -> None:
    assert model_hints(model) == hints
