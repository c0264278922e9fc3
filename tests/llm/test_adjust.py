from __future__ import annotations

from dataclasses import asdict
from typing import Any

import pytest

from octo_lab.llm.adjust import adjusted, remark
from octo_lab.llm.hints import ModelHints

PLAIN = ModelHints()


def changed(said: str, **before: Any) -> dict[str, Any] | None:
    """What the complaint changes in the hints."""
    hints = ModelHints(**before)
    after = adjusted(hints, said.lower())
    if after is None:
        return None
    old = asdict(hints)
    return {name: value for name, value in asdict(after).items() if value != old[name]}


@pytest.mark.parametrize(
    ("said", "change"),
    [
        (
            "unsupported_parameter invalid_request_error max_tokens Unsupported parameter: "
            "'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead.",
            {"completion_tokens": True},
        ),
        (
            "Unsupported value: 'temperature' does not support 0.2 with this model. Only the "
            "default (1) value is supported.",
            {"fixed_temperature": True},
        ),
        (
            "invalid temperature: only 1 is allowed for this model",
            {"fixed_temperature": True},
        ),
        ("temperature is deprecated for this model", {"fixed_temperature": True}),
        ("Unsupported parameter: 'stop' is not supported with this model.", {"stop": False}),
        (
            "Your organization must be verified to generate reasoning summaries. "
            "reasoning.summary unsupported_value",
            {"summaries": False},
        ),
        (
            "Item 'rs_68' of type 'reasoning' was provided without its required following item.",
            {"replay_state": False},
        ),
        (
            "Item 'fc_68' of type 'function_call' was provided without its required 'reasoning' "
            "item: 'rs_68'.",
            {"replay_state": False},
        ),
        (
            "Item with id 'rs_68' not found. Items are not persisted when `store` is set to false.",
            {"replay_state": False},
        ),
        ("Encrypted content is not supported with this model.", {"replay_state": False}),
        ("Unknown parameter: stream_options", {"stream_usage": False}),
        (
            '[{"loc": ["body", "stream_options"], "msg": "Extra inputs are not permitted"}]',
            {"stream_usage": False},
        ),
        (
            "Invalid tool_choice, tool_choice must be a string, no object",
            {"tool_choice": "required"},
        ),
        ("tool_choice 'required' is not supported", {"tool_choice": "auto"}),
        ("deepseek-reasoner does not support this tool_choice: required", {"tool_choice": "auto"}),
        ("This response_format type is unavailable now", {"structured": "object"}),
        ("json_schema is not supported by this model", {"structured": "object"}),
        (
            "Invalid schema for response_format 'answer': 'additionalProperties' is required to "
            "be supplied and to be false.",
            {"strict": False},
        ),
        ("Unrecognized request argument supplied: strict", {"strict": False}),
        (
            "The reasoning_content in the thinking mode must be passed back to the API.",
            {"reasoning": "stubbed"},
        ),
        ("Missing reasoning_content field in the assistant message 2", {"reasoning": "stubbed"}),
        (
            "thinking is enabled but reasoning_content is missing in assistant tool call message",
            {"reasoning": "stubbed"},
        ),
        (
            "Unsupported value: 'messages[0].role' does not support 'system' with this model.",
            {"system": "user"},
        ),
        ("Jinja Exception: System role not supported", {"system": "user"}),
        ("Only user and assistant roles are supported!", {"system": "user"}),
        ("Developer instruction is not enabled for models/gemma-3", {"system": "user"}),
        (
            "messages[0]: unknown variant `image_url`, expected `text`",
            {"vision": False},
        ),
        ("No endpoints found that support image input", {"vision": False}),
        ("This model is not a multimodal model", {"vision": False}),
        ("registry.ollama.ai/library/gemma:latest does not support tools", {"tools": False}),
        ("No endpoints found that support tool use", {"tools": False}),
        (
            '"auto" tool choice requires --enable-auto-tool-choice and --tool-call-parser',
            {"tools": False},
        ),
        (
            "messages.1.content.0: Invalid `signature` in `thinking` block",
            {"replay_state": False},
        ),
        (
            "The encrypted content gAAA could not be verified.",
            {"replay_state": False},
        ),
    ],
)
def test_a_complaint_that_explains_itself_changes_one_hint(
    said: str, change: dict[str, Any]
) -> None:
    assert changed(said) == change


@pytest.mark.parametrize(
    ("said", "before", "change"),
    [
        (
            "Unrecognized request argument supplied: max_completion_tokens",
            {"completion_tokens": True},
            {"completion_tokens": False},
        ),
        (
            "Unsupported parameter: 'reasoning_effort' is not supported with this model.",
            {"effort": True},
            {"effort": False},
        ),
        (
            "Unsupported value: 'reasoning_effort' does not support 'minimal' with this model.",
            {"effort": True, "minimal": True},
            {"minimal": False},
        ),
        ("tool_choice is not supported", {"tool_choice": "required"}, {"tool_choice": "auto"}),
        ("response_format is not supported", {"structured": "object"}, {"structured": "words"}),
        (
            "Unexpected role: developer is not supported",
            {"system": "developer"},
            {"system": "system"},
        ),
        (
            "Please remove the reasoning_content from your message",
            {"reasoning": "kept"},
            {"reasoning": "dropped"},
        ),
        (
            "messages.1.reasoning_content: Extra inputs are not permitted",
            {"reasoning": "stubbed"},
            {"reasoning": "dropped"},
        ),
        (
            "System message must be at the beginning",
            {"merge_system": False},
            {"merge_system": True},
        ),
    ],
)
def test_what_was_told_from_the_name_is_corrected(
    said: str, before: dict[str, Any], change: dict[str, Any]
) -> None:
    assert changed(said, **before) == change


@pytest.mark.parametrize(
    "said",
    [
        "",
        "invalid_request_error messages.3: tool_use ids were found without tool_result blocks",
        "invalid_request_error image exceeds 5 MB maximum: too large",
        "invalid_request_error unsupported image format",
        "the model is overloaded",
        "invalid_request_error invalid 'messages[1].content': expected a text that is not empty.",
    ],
)
def test_a_complaint_about_something_else_changes_nothing(said: str) -> None:
    assert changed(said) is None


def test_a_complaint_about_what_is_already_so_changes_nothing() -> None:
    assert changed("temperature is not supported", fixed_temperature=True) is None


def test_a_person_is_told_what_an_adjustment_costs() -> None:
    assert remark(PLAIN, ModelHints(tools=False)) == "cannot use tools: it answers without them"
    assert "pictures" in remark(PLAIN, ModelHints(vision=False))
    assert remark(PLAIN, ModelHints(stop=False, system="user")) == ""
