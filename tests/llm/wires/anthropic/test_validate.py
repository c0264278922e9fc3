from __future__ import annotations

from typing import Any

import pytest

from octo_lab.llm.wires.anthropic.validate import header_problem, request_problem
from octo_lab.llm.wires.checks import Problem

Json = dict[str, Any]
USER = {"role": "user", "content": "hi"}
CALL = {"type": "tool_use", "id": "a", "name": "f", "input": {}}
CALLS = {"role": "assistant", "content": [CALL]}
ANSWER = {"type": "tool_result", "tool_use_id": "a", "content": "1"}
RESULTS = {"role": "user", "content": [ANSWER]}
TOOL = {"name": "f", "input_schema": {"type": "object"}}
THOUGHT = {"type": "thinking", "thinking": "hm", "signature": "c2ln"}
TEXT = {"type": "text", "text": "x"}
BUDGET = {"type": "enabled", "budget_tokens": 1024}
MARK = {"cache_control": {"type": "ephemeral"}}
IMAGE = {
    "type": "image",
    "source": {"type": "base64", "media_type": "image/png", "data": "cG5n"},
}
BINDING = {"type": "adaptive", "block_binding": {"prefix_mismatch_behavior": "drop_block"}}


def body(*messages: Any, **fields: Any) -> Json:
    return {
        "model": "claude-x",
        "max_tokens": 2048,
        "messages": list(messages or [USER]),
        **fields,
    }


def user(*content: Json) -> Json:
    return {"role": "user", "content": list(content)}


def assistant(*content: Json) -> Json:
    return {"role": "assistant", "content": list(content)}


def image(**source: Any) -> Json:
    return {"type": "image", "source": {**IMAGE["source"], **source}}  # type: ignore[dict-item]


def form(schema: Json) -> Json:
    return {"format": {"type": "json_schema", "schema": schema}}


@pytest.mark.parametrize(
    "request_body",
    [
        body(),
        body(USER, CALLS, RESULTS, USER),
        body(USER, CALLS, user(ANSWER, TEXT, IMAGE)),
        body(USER, CALLS, user({**ANSWER, "content": [TEXT, IMAGE], "is_error": True})),
        body(USER, CALLS, user({"type": "tool_result", "tool_use_id": "a"})),
        body(USER, assistant(CALL), assistant({**CALL, "id": "b"}), RESULTS | {
            "content": [ANSWER, {**ANSWER, "tool_use_id": "b"}]
        }),
        body(USER, assistant(THOUGHT, TEXT, CALL), RESULTS, thinking=BUDGET),
        body(USER, assistant(TEXT)),
        body(tools=[TOOL], tool_choice={"type": "tool", "name": "f"}),
        body(stream=True, stop_sequences=["a"], temperature=0, system="Be brief."),
        body(system=[{**TEXT, **MARK}], tools=[{**TOOL, **MARK}]),
        body(thinking={"type": "adaptive", "display": "omitted"}, output_config={"effort": "low"}),
        body(output_config=form({"type": "object", "additionalProperties": False})),
        body(user({"type": "image", "source": {"type": "url", "url": "http://x/y.png"}})),
        body() | {"model": "glm-5", "messages": [
            USER, assistant({"type": "thinking", "thinking": "hm"}, TEXT), USER
        ]},
    ],
)  # fmt: skip
def test_a_sound_request_has_no_problem(request_body: Json) -> None:
    assert request_problem(request_body) is None


WHERE = "messages.0.content"


@pytest.mark.parametrize(
    ("request_body", "param"),
    [
        ([], "body"),
        (body(nonsense=1), "nonsense"),
        (body(stream_options={}), "stream_options"),
        (body() | {"model": ""}, "model"),
        (body() | {"max_tokens": None}, "max_tokens"),
        (body(max_tokens=0), "max_tokens"),
        (body(temperature=1.1), "temperature"),
        (body(temperature=True), "temperature"),
        (body(top_k=-1), "top_k"),
        (body(stream="yes"), "stream"),
        (body(stop_sequences=[" "]), "stop_sequences.0"),
        (body(stop_sequences="x"), "stop_sequences"),
        (body(system=" "), "system"),
        (body(system=[IMAGE]), "system.0"),
        (body(metadata={"name": "x"}), "metadata.name"),
        (body() | {"messages": []}, "messages"),
        (body({"role": "system", "content": "x"}), "messages.0.role"),
        (body({"role": "tool", "content": "x"}), "messages.0.role"),
        (body(assistant(TEXT), USER), "messages"),
        (body({**USER, "name": "x"}), "messages.0.name"),
        (body({"role": "user", "content": "\n"}), WHERE),
        (body(user()), WHERE),
        (body(user({"type": "text", "text": " "})), f"{WHERE}.0"),
        (body(user({"text": "x"})), f"{WHERE}.0"),
        (body(user({**TEXT, "id": 1})), f"{WHERE}.0.id"),
        (body(user(CALL)), f"{WHERE}.0"),
        (body(user(THOUGHT)), f"{WHERE}.0"),
        (body(user({**IMAGE, "name": "x"})), f"{WHERE}.0.name"),
        (body(user(image(media_type="image/tiff"))), f"{WHERE}.0.source.media_type"),
        (body(user(image(data="?"))), f"{WHERE}.0.source.data"),
        (body(user(image(data=""))), f"{WHERE}.0.source.data"),
        (body(user(image(type="file"))), f"{WHERE}.0.source.type"),
        (body(USER, assistant({**CALL, "id": "a.b"}), RESULTS), "messages.1.content.0.id"),
        (body(USER, assistant({**CALL, "name": "a.b"}), RESULTS), "messages.1.content.0.name"),
        (body(USER, assistant({**CALL, "input": "{}"}), RESULTS), "messages.1.content.0.input"),
        (body(USER, CALLS), "messages.1"),
        (body(USER, CALLS, USER), "messages.2.content"),
        (body(USER, CALLS, user(TEXT, ANSWER)), "messages.2.content"),
        (body(USER, CALLS, user(ANSWER, ANSWER)), "messages.2.content"),
        (body(USER, CALLS, RESULTS, RESULTS), "messages.2.content"),
        (body(USER, RESULTS), "messages.0.content"),
        (body(USER, assistant(TEXT), RESULTS), "messages.2.content"),
        (body(USER, assistant(CALL, CALL), RESULTS), "messages.1.content"),
        (body(USER, CALLS, RESULTS, CALLS, RESULTS), "messages.3.content"),
        (
            body(USER, CALLS, user({**ANSWER, "content": "", "is_error": True})),
            "messages.2.content.0",
        ),
        (
            body(USER, CALLS, user({**ANSWER, "content": [CALL]})),
            "messages.2.content.0.content.0",
        ),
        (body(USER, assistant({**TEXT, "text": "x "})), "messages"),
        (body(USER, assistant(THOUGHT)), "messages.1"),
        (body(USER, assistant({**THOUGHT, "signature": ""}, TEXT)), "messages.1.content.0"),
        (
            body(USER, assistant({"type": "redacted_thinking", "data": ""}, TEXT)),
            "messages.1.content.0.data",
        ),
        (body(USER, assistant({**THOUGHT, **MARK}, TEXT)), "messages.1.content.0.cache_control"),
        (body(tools=[{**TOOL, "input_schema": {}}]), "tools.0.input_schema.type"),
        (body(tools=[{**TOOL, "name": "a b"}]), "tools.0.name"),
        (body(tools=[{**TOOL, "description": ""}]), "tools.0.description"),
        (body(tools=[{**TOOL, "function": {}}]), "tools.0.function"),
        (body(tools=[TOOL, TOOL]), "tools"),
        (
            body(tools=[{**TOOL, "input_schema": {"type": "object", "anyOf": []}}]),
            "tools.0",
        ),
        (body(tool_choice={"type": "auto"}), "tool_choice"),
        (body(tools=[TOOL], tool_choice="auto"), "tool_choice"),
        (body(tools=[TOOL], tool_choice={"type": "required"}), "tool_choice"),
        (body(tools=[TOOL], tool_choice={"type": "tool", "name": "g"}), "tool_choice"),
        (body(tools=[TOOL], tool_choice={"type": "any", "name": "f"}), "tool_choice.name"),
        (body(thinking={"type": "much"}), "thinking"),
        (
            body(thinking={"type": "enabled", "budget_tokens": 1023}),
            "thinking.enabled.budget_tokens",
        ),
        (
            body(thinking={"type": "enabled", "budget_tokens": 2048}),
            "thinking.enabled.budget_tokens",
        ),
        (body(thinking={"type": "adaptive", "budget_tokens": 2}), "thinking.budget_tokens"),
        (body(thinking={"type": "adaptive", "display": "all"}), "thinking.display"),
        (body(thinking=BINDING), "thinking.block_binding"),
        (body(thinking=BUDGET, temperature=0), "temperature"),
        (body(thinking=BUDGET, tools=[TOOL], tool_choice={"type": "any"}), "tool_choice"),
        (body(USER, CALLS, RESULTS, thinking=BUDGET), "messages.1.content.0.type"),
        (body(USER, assistant(TEXT), thinking=BUDGET), "messages.1.content.0.type"),
        (body(output_config={"effort": "minimal"}), "output_config.effort"),
        (body(output_config={"schema": {}}), "output_config.schema"),
        (body(output_config=form({"type": "object"})), "output_config.format.schema"),
        (
            body(output_config=form({"anyOf": [{"type": "integer", "minimum": 1}]})),
            "output_config.format.schema",
        ),
        (body(user({**TEXT, "cache_control": {"type": "x"}})), f"{WHERE}.0.cache_control"),
        (body(user({**TEXT, "cache_control": {"ttl": "1h"}})), f"{WHERE}.0.cache_control"),
        (body(user(*[{**TEXT, **MARK}] * 5)), ""),
        (body(user(*[{**TEXT, **MARK}] * 3), system=[{**TEXT, **MARK}] * 2), ""),
    ],
)
def test_the_first_problem_names_its_place(request_body: object, param: str) -> None:
    problem = request_problem(request_body)
    assert isinstance(problem, Problem)
    assert problem.param == param
    assert problem.message


def test_the_newer_version_of_the_api_knows_no_temperature() -> None:
    problem = request_problem(body(temperature=1), "2026-10-21")
    assert problem == Problem("Extra inputs are not permitted", "temperature")


def test_a_feature_on_trial_must_be_named_in_the_header() -> None:
    betas = ["thinking-binding-controls-2026-08-01"]
    assert request_problem(body(thinking=BINDING), betas=betas) is None


@pytest.mark.parametrize(
    ("headers", "message"),
    [
        ({"anthropic-version": "2023-06-01"}, None),
        ({"anthropic-version": "2026-10-21"}, None),
        ({"anthropic-version": "2024"}, "'2024' is not a valid version"),
        ({}, "header is required"),
    ],
)
def test_the_version_is_demanded(headers: dict[str, str], message: str | None) -> None:
    problem = header_problem(headers)
    assert (problem.message if problem else None) == message
