from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest

from octo_lab.core.errors import UsageError
from octo_lab.core.messages import (
    ChatRequest,
    Effort,
    Media,
    Message,
    OneTool,
    ProviderState,
    ToolCall,
    ToolChoice,
    ToolSpec,
)
from octo_lab.llm.hints import ModelHints, model_hints
from octo_lab.llm.http import ModelHttp
from octo_lab.llm.provider_config import ProviderConfig
from octo_lab.llm.repair import EMPTY, NO_RESULT, OMITTED
from octo_lab.llm.tool_names import alias
from octo_lab.llm.wires.anthropic.request import BINDING, VERSION, messages_request
from octo_lab.llm.wires.anthropic.transcript import GO_ON, NO_OUTPUT, wire_id
from octo_lab.llm.wires.anthropic.validate import request_problem
from octo_lab.llm.wires.anthropic.wire import ANTHROPIC

Json = dict[str, Any]
SONNET = "claude-sonnet-4-20250514"  # takes a budget of thinking
HI = Message(role="user", content="hi")
TOOL = ToolSpec(name="f", description="does f", schema={"type": "object", "properties": {}})
OTHER = ToolSpec(name="g", description="does g", schema={})
PICTURE = Media(mime="image/png", data=b"png", name="plot.png")
FILE = Media(mime="application/pdf", data=b"pdf", name="a.pdf")
IMAGE = {
    "type": "image",
    "source": {"type": "base64", "media_type": "image/png", "data": "cG5n"},
}
SCHEMA = {
    "type": "object",
    "properties": {"a": {"type": "integer", "minimum": 1}},
    "required": ["a"],
}


def config(model: str = SONNET, name: str = "anthropic", url: str = "") -> ProviderConfig:
    return ProviderConfig(name=name, model=model, http=ModelHttp(), base_url=url)


def body(request: ChatRequest, model: str = SONNET, hints: ModelHints | None = None) -> Json:
    """What is sent, which the strict validator accepts."""
    written = messages_request(request, config(model), hints or model_hints(model))
    assert request_problem(written.body, VERSION, written.betas) is None
    return written.body


def without_marks(value: Any) -> Any:
    match value:
        case dict():
            return {k: without_marks(part) for k, part in value.items() if k != "cache_control"}
        case list():
            return [without_marks(part) for part in value]
        case _:
            return value


def turns(*history: Message, model: str = SONNET, **options: Any) -> list[Json]:
    """The turns that are sent, without marks for the cache."""
    sent: list[Json] = without_marks(body(ChatRequest(messages=history), model, **options))[
        "messages"
    ]
    return sent


def text(words: str) -> Json:
    return {"type": "text", "text": words}


def called(*ids: str, content: str = "", arguments: str = "{}", **more: Any) -> Message:
    calls = tuple(ToolCall(id=id, name="f", arguments=arguments) for id in ids)
    return Message(role="assistant", content=content, tool_calls=calls, **more)


def result(id: str, content: str = "1", **more: Any) -> Message:
    return Message(role="tool", content=content, tool_call_id=id, **more)


def use(id: str, input: Json | None = None) -> Json:
    return {"type": "tool_use", "id": id, "name": "f", "input": input or {}}


def answer(id: str, words: str = "1", **more: Any) -> Json:
    return {"type": "tool_result", "tool_use_id": id, "content": [text(words)], **more}


def test_only_fields_that_mean_something_are_sent() -> None:
    request = ChatRequest(messages=[HI], tool_choice="required", max_tokens=0, stop=("", " "))
    assert body(request) == {
        "model": SONNET,
        "max_tokens": 16_384,
        "messages": [{"role": "user", "content": [text("hi")]}],
        "stream": True,
    }


def test_every_choice_has_its_field() -> None:
    request = ChatRequest(
        messages=[Message(role="system", content="Be brief."), HI],
        tools=[TOOL],
        tool_choice="required",
        max_tokens=9,
        temperature=0.0,
        stop=("END",),
    )
    mark = {"cache_control": {"type": "ephemeral"}}
    assert body(request) == {
        "model": SONNET,
        "max_tokens": 9,
        "system": [{**text("Be brief."), **mark}],
        "tools": [
            {
                "name": "f",
                "description": "does f",
                "input_schema": {"type": "object", "properties": {}},
                **mark,
            }
        ],
        "tool_choice": {"type": "any"},
        "messages": [{"role": "user", "content": [{**text("hi"), **mark}]}],
        "stream": True,
        "temperature": 0.0,
        "stop_sequences": ["END"],
    }


def test_results_of_one_step_and_the_words_behind_them_are_one_turn_right_after() -> None:
    history = [
        HI,
        called("a", "b", content="Let me look."),
        result("b", "two"),
        result("a", "one", outcome="error"),
        Message(role="user", content="go on"),
    ]
    assert turns(*history) == [
        {"role": "user", "content": [text("hi")]},
        {"role": "assistant", "content": [text("Let me look."), use("a"), use("b")]},
        {
            "role": "user",
            "content": [answer("a", "one", is_error=True), answer("b", "two"), text("go on")],
        },
    ]


def test_one_result_for_each_call_however_many_are_stored() -> None:
    history = [HI, called("x"), result("x", "first"), result("x", "second"), result("y")]
    assert turns(*history)[1:] == [
        {"role": "assistant", "content": [use("x")]},
        {"role": "user", "content": [answer("x", "first")]},
    ]


def test_pictures_of_a_result_are_inside_it_and_files_are_mentioned() -> None:
    sent = turns(HI, called("a"), result("a", "see", media=(PICTURE, FILE)))
    said = [IMAGE, text("see\n[application/pdf: a.pdf]")]
    assert sent[2]["content"] == [{**answer("a"), "content": said}]


@pytest.mark.parametrize("outcome", ["error", "denied", "cancelled"])
def test_a_failed_call_says_so_and_no_result_is_empty(outcome: Any) -> None:
    sent = turns(HI, called("a", "b"), result("a", " \n", outcome=outcome), result("b", ""))
    assert sent[2]["content"] == [answer("a", NO_OUTPUT, is_error=True), answer("b", NO_OUTPUT)]


def test_no_blank_text_is_sent() -> None:
    sent = turns(
        Message(role="user", content="\n"),
        Message(role="assistant", content=" "),
        Message(role="user", content="x"),
        called("a", content="\n\n"),
        result("a"),
        Message(role="user", content=" \t", media=(PICTURE,)),
    )
    assert sent == [
        {"role": "user", "content": [text(f"{EMPTY}\n\nx")]},
        {"role": "assistant", "content": [use("a")]},
        {"role": "user", "content": [answer("a"), IMAGE]},
    ]


def test_a_history_that_starts_with_the_assistant_gets_a_user_before_it() -> None:
    sent = turns(Message(role="assistant", content="as I said"), HI)
    assert sent[0] == {"role": "user", "content": [text(OMITTED)]}


def test_a_call_that_was_cut_leaves_nothing_that_can_be_run() -> None:
    sent = turns(HI, called("a", arguments='{"x": '), Message(role="user", content="hello?"))
    assert sent == [{"role": "user", "content": [text("hi\n\nhello?")]}]


def test_a_whole_call_without_result_is_told_to_have_been_interrupted() -> None:
    sent = turns(HI, called("a"), Message(role="user", content="hello?"))
    content = [answer("a", NO_RESULT, is_error=True), text("hello?")]
    assert sent[2] == {"role": "user", "content": content}


@pytest.mark.parametrize("arguments", ['{"x', "[1]", '"x"', "", '{"x": NaN}', "[" * 99_999])
def test_arguments_that_are_no_object_are_marked(arguments: str) -> None:
    sent = turns(HI, called("a", arguments=arguments), result("a", "bad", outcome="error"))
    assert sent[1]["content"] == [use("a", {"invalid_json": arguments})]


def test_odd_ids_become_good_ones_that_still_pair_up() -> None:
    odd = ("call.1", "call 1", "\u00e4", "functions.f:0")
    sent = turns(HI, called(*odd), *map(result, odd))
    made = [one["id"] for one in sent[1]["content"]]
    assert made == [one["tool_use_id"] for one in sent[2]["content"]] == list(map(wire_id, odd))
    assert len(set(made)) == 4


def test_an_id_used_in_every_step_is_told_apart() -> None:
    sent = turns(HI, called("call_1"), result("call_1"), called("call_1"), result("call_1", "2"))
    assert [turn["content"] for turn in sent[1:]] == [
        [use("call_1")],
        [answer("call_1")],
        [use("call_1-2")],
        [answer("call_1-2", "2")],
    ]


def test_pictures_come_before_words_and_a_model_without_eyes_gets_a_mention() -> None:
    message = Message(role="user", content="see", media=(PICTURE,))
    assert turns(message)[0]["content"] == [IMAGE, text("see")]
    blind = turns(message, hints=ModelHints(vision=False))
    assert blind[0]["content"] == [text("see\n[image/png: plot.png]")]


def test_a_tool_of_an_odd_name_has_the_same_alias_everywhere() -> None:
    odd = "mcp.server/tool"
    call = ToolCall(id="a", name=odd, arguments="{}")
    history = [HI, Message(role="assistant", tool_calls=(call,)), result("a")]
    sent = body(
        ChatRequest(
            messages=history,
            tools=[ToolSpec(name=odd, description=" ", schema={"anyOf": [{}], "type": "object"})],
            tool_choice=OneTool(odd),
        )
    )
    tool = {"name": alias(odd), "input_schema": {"type": "object"}}
    assert without_marks(sent["tools"]) == [tool]
    assert sent["tool_choice"] == {"type": "tool", "name": alias(odd)}
    assert sent["messages"][1]["content"][0]["name"] == alias(odd)


@pytest.mark.parametrize(
    ("choice", "sent"),
    [
        ("auto", None),
        ("none", {"type": "none"}),
        ("required", {"type": "any"}),
        (OneTool("g"), {"type": "tool", "name": "g"}),
    ],
)
def test_the_choice_of_tool_is_sent(choice: ToolChoice, sent: Json | None) -> None:
    request = ChatRequest(messages=[HI], tools=[TOOL, OTHER], tool_choice=choice)
    assert body(request).get("tool_choice") == sent


def test_without_tools_no_choice_is_sent_and_tools_called_before_are_named() -> None:
    assert "tool_choice" not in body(ChatRequest(messages=[HI], tool_choice="none"))
    sent = body(ChatRequest(messages=[HI, called("a"), result("a")], tool_choice="required"))
    assert without_marks(sent["tools"]) == [{"name": "f", "input_schema": {"type": "object"}}]
    assert sent["tool_choice"] == {"type": "none"}


def test_a_demanded_tool_that_is_not_offered_is_a_mistake() -> None:
    request = ChatRequest(messages=[HI], tools=[TOOL], tool_choice=OneTool("h"))
    with pytest.raises(UsageError, match="'h' is not offered \\(offered: f\\)"):
        body(request)


@pytest.mark.parametrize(
    ("model", "hints"),
    [("claude-opus-5-5", ModelHints()), (SONNET, ModelHints(tool_choice="auto"))],
)
def test_where_no_tool_can_be_demanded_it_is_the_only_one_offered(
    model: str, hints: ModelHints
) -> None:
    request = ChatRequest(messages=[HI], tools=[TOOL, OTHER], tool_choice=OneTool("g"))
    sent = body(request, model, hints)
    assert ([tool["name"] for tool in sent["tools"]], "tool_choice" in sent) == (["g"], False)


def test_a_server_without_tools_reads_calls_as_notes() -> None:
    request = ChatRequest(messages=[HI, called("a"), result("a")], tools=[TOOL])
    sent = body(request, hints=ModelHints(tools=False))
    assert "tools" not in sent
    assert "The tool f was called" in sent["messages"][0]["content"][0]["text"]


@pytest.mark.parametrize(
    ("model", "limit"),
    [
        ("claude-3-opus-20240229", 4_096),
        ("claude-3-5-sonnet-latest", 8_192),
        (SONNET, 16_384),
        ("glm-5", 8_192),
    ],
)
def test_a_limit_is_always_sent_and_the_model_can_keep_it(model: str, limit: int) -> None:
    assert body(ChatRequest(messages=[HI]), model)["max_tokens"] == limit


def test_a_limit_above_the_model_s_own_is_its_own() -> None:
    request = ChatRequest(messages=[HI], max_tokens=10**6)
    assert body(request, "claude-3-5-sonnet-latest")["max_tokens"] == 8_192
    assert body(request, "glm-5")["max_tokens"] == 10**6


def test_a_temperature_of_other_vendors_fits() -> None:
    assert body(ChatRequest(messages=[HI], temperature=1.7))["temperature"] == 1.0


@pytest.mark.parametrize(
    ("model", "hints"),
    [("claude-opus-4-7", ModelHints()), (SONNET, ModelHints(fixed_temperature=True))],
)
def test_a_model_that_takes_no_temperature_gets_none(model: str, hints: ModelHints) -> None:
    assert "temperature" not in body(ChatRequest(messages=[HI], temperature=0.5), model, hints)


@pytest.mark.parametrize(
    ("effort", "most", "limit", "thinking"),
    [
        ("minimal", None, 17_408, 1_024),
        ("low", None, 20_480, 4_096),
        ("medium", None, 24_576, 8_192),
        ("high", None, 32_768, 16_384),
        ("high", 4_000, 4_000, 2_000),
        ("high", 2_000, 2_000, None),
    ],
)
def test_effort_is_a_budget_that_leaves_room_for_the_answer(
    effort: Effort, most: int | None, limit: int, thinking: int | None
) -> None:
    request = ChatRequest(messages=[HI], effort=effort, max_tokens=most, temperature=0.0)
    sent = body(request)
    assert (sent["max_tokens"], sent.get("thinking")) == (
        limit,
        {"type": "enabled", "budget_tokens": thinking} if thinking else None,
    )
    assert ("temperature" in sent) is (thinking is None)


SUMMARY = {"type": "adaptive", "display": "summarized"}


@pytest.mark.parametrize(
    ("model", "effort", "thinking", "told"),
    [
        ("claude-3-5-haiku-latest", "high", None, None),
        ("claude-opus-4-6", None, None, None),
        ("claude-opus-4-6", "high", {"type": "adaptive"}, "high"),
        ("claude-opus-4-7", "minimal", SUMMARY, "low"),
        ("claude-sonnet-5", None, SUMMARY, None),
        ("claude-opus-5-5", "medium", SUMMARY, "medium"),
        ("claude-fable-5", None, SUMMARY, None),
    ],
)
def test_newer_models_decide_themselves_how_much_to_think(
    model: str, effort: Effort | None, thinking: Json | None, told: str | None
) -> None:
    sent = body(ChatRequest(messages=[HI], effort=effort), model)
    assert (sent.get("thinking"), sent.get("output_config")) == (
        thinking,
        {"effort": told} if told else None,
    )


@pytest.mark.parametrize(
    ("model", "thinking"),
    [
        (SONNET, None),
        ("claude-opus-4-7", None),
        ("claude-sonnet-5", {"type": "disabled"}),
        ("claude-opus-5-5", SUMMARY),
    ],
)
def test_a_demanded_tool_leaves_no_room_for_thinking(model: str, thinking: Json | None) -> None:
    request = ChatRequest(messages=[HI], tools=[TOOL], tool_choice="required", effort="low")
    assert body(request, model).get("thinking") == thinking


HIDDEN = {"type": "redacted_thinking", "data": "ZGF0YQ=="}
THOUGHT = {"type": "thinking", "thinking": "hm", "signature": "c2ln"}


def state(*order: Any, provider: str = "anthropic", model: str = SONNET) -> ProviderState:
    return ProviderState(provider=provider, model=model, blob=json.dumps(order))


def thoughtful(kept: ProviderState) -> Message:
    return called("a", content="Let me. Look.", provider_state=kept)


PLAIN = [text("Let me. Look."), use("a")]


def test_thinking_comes_back_untouched_and_in_its_place() -> None:
    kept = state(THOUGHT, 7, HIDDEN, 6, None)
    sent = turns(HI, thoughtful(kept), result("a"))
    woven = [THOUGHT, text("Let me."), HIDDEN, text(" Look."), use("a")]
    assert sent[1]["content"] == woven


@pytest.mark.parametrize(
    "kept",
    [
        state(THOUGHT, 13, None, provider="zai"),
        state(THOUGHT, 13, None, model="claude-opus-4-20250514"),
        state(THOUGHT, 12, None),
        state(THOUGHT, 13),
        state(THOUGHT, 13, None, None),
        state(13, None, THOUGHT),
        state({"type": "thinking", "thinking": "hm"}, 13, None),
        state({"type": "thinking", "thinking": "", "signature": ""}, 13, None),
        state({"type": "redacted_thinking", "data": ""}, 13, None),
        state({"type": "text", "text": "injected"}, 13, None),
        state(THOUGHT, "13", None),
        ProviderState(provider="anthropic", model=SONNET, blob='{"type":"thinking"}'),
        ProviderState(provider="anthropic", model=SONNET, blob="[" * 99_999),
    ],
)
def test_thinking_that_does_not_fit_is_left_out_as_a_whole(kept: ProviderState) -> None:
    assert turns(HI, thoughtful(kept), result("a"))[1]["content"] == PLAIN


def test_a_server_that_refused_thinking_gets_none_back() -> None:
    kept = thoughtful(state(THOUGHT, 13, None))
    sent = turns(HI, kept, result("a"), hints=ModelHints(replay_state=False))
    assert sent[1]["content"] == PLAIN


def test_thinking_without_its_text_comes_back_with_its_signature() -> None:
    silent = {"type": "thinking", "thinking": "", "signature": "c2ln"}
    sent = turns(HI, thoughtful(state(silent, 13, None)), result("a"))
    assert sent[1]["content"] == [silent, *PLAIN]


def test_a_host_without_signatures_gets_its_thinking_as_it_gave_it() -> None:
    unsigned = {"type": "thinking", "thinking": "hm"}
    kept = state(unsigned, 13, None, model="glm-5")
    sent = turns(HI, thoughtful(kept), result("a"), model="glm-5")
    assert sent[1]["content"] == [unsigned, *PLAIN]


def test_a_step_without_its_thinking_is_finished_without_thinking() -> None:
    request = ChatRequest(messages=[HI, called("a"), result("a")], effort="high", tools=[TOOL])
    assert "thinking" not in body(request)
    assert "thinking" in body(request, "claude-opus-4-6")
    kept = replace(request.messages[1], provider_state=state(THOUGHT, None))
    assert "thinking" in body(replace(request, messages=[HI, kept, result("a")]))


def test_thinking_behind_a_shortened_transcript_may_be_dropped_by_the_vendor() -> None:
    kept = thoughtful(state(THOUGHT, 13, None, model="claude-opus-5-5"))
    request = ChatRequest(messages=[HI, kept, result("a")])
    written = messages_request(request, config("claude-opus-5-5"), model_hints("claude-opus-5-5"))
    assert written.betas == (BINDING,)
    assert written.body["thinking"] == {
        **SUMMARY,
        "block_binding": {"prefix_mismatch_behavior": "drop_block"},
    }
    asked = ANTHROPIC.write(request, config("claude-opus-5-5"), model_hints("claude-opus-5-5"))
    assert asked.headers == {"anthropic-version": VERSION, "anthropic-beta": BINDING}


def test_an_answer_that_was_begun_ends_with_no_blank_or_is_followed_by_the_user() -> None:
    begun = Message(role="assistant", content="The answer is \n")
    assert turns(HI, begun)[-1]["content"] == [text("The answer is")]
    newer = turns(HI, begun, model="claude-opus-4-6")
    assert newer[-1] == {"role": "user", "content": [text(GO_ON)]}
    request = ChatRequest(messages=[HI, begun], effort="high")
    assert "thinking" not in body(request)


def marks(request: ChatRequest) -> list[str]:
    """Where the cache is told to break, by paths."""
    sent = body(request)
    parts = [("tools", one) for one in sent.get("tools", ())]
    parts += [("system", one) for one in sent.get("system", ())]
    parts += [(str(n), one) for n, t in enumerate(sent["messages"]) for one in t["content"]]
    return [where for where, one in parts if "cache_control" in one]


def test_the_cache_is_told_where_the_next_request_begins_to_differ() -> None:
    system = Message(role="system", content="Be brief.")
    assert marks(ChatRequest(messages=[HI])) == []
    assert marks(ChatRequest(messages=[system, HI])) == ["system"]
    steps = [HI, called("a"), result("a"), called("b"), result("b")]
    request = ChatRequest(messages=[system, *steps], tools=[TOOL, OTHER])
    assert marks(request) == ["tools", "system", "2", "4"]


@pytest.mark.parametrize("model", [SONNET, "claude-opus-4-6", "claude-opus-5-5"])
def test_a_server_that_refused_to_be_told_how_to_think_is_told_nothing(model: str) -> None:
    request = ChatRequest(messages=[HI], effort="high")
    sent = body(request, model, replace(model_hints(model), effort=False))
    assert {"thinking", "output_config"} & set(sent) == set()


def test_a_server_that_refused_a_form_gets_a_tool_for_the_answer() -> None:
    request = ChatRequest(messages=[HI], response_schema=SCHEMA)
    sent = body(request, "claude-opus-4-6", ModelHints(structured="object"))
    assert ("output_config" in sent, [tool["name"] for tool in sent["tools"]]) == (
        False,
        ["final_answer"],
    )


def test_a_schema_is_the_form_of_the_answer_where_the_vendor_can_hold_to_it() -> None:
    request = ChatRequest(messages=[HI], response_schema=SCHEMA)
    sent = body(request, "claude-sonnet-4-5")
    assert ("tools" in sent, sent["output_config"]) == (
        False,
        {
            "format": {
                "type": "json_schema",
                "schema": {
                    "type": "object",
                    "properties": {"a": {"type": "integer", "description": "(minimum: 1)"}},
                    "required": ["a"],
                    "additionalProperties": False,
                },
            }
        },
    )


@pytest.mark.parametrize(
    ("model", "schema"), [(SONNET, SCHEMA), ("glm-5", SCHEMA), ("claude-sonnet-4-5", {})]
)
def test_elsewhere_the_answer_is_the_input_of_a_demanded_tool(model: str, schema: Json) -> None:
    sent = body(ChatRequest(messages=[HI], response_schema=schema, effort="low"), model)
    assert sent["tools"][0]["input_schema"] == {**schema, "type": "object"}
    assert sent["tool_choice"] == {"type": "tool", "name": "final_answer"}
    assert "thinking" not in sent


@pytest.mark.parametrize(
    ("choice", "sent"),
    [
        ("auto", {"type": "any"}),
        ("none", {"type": "tool", "name": "final_answer_"}),
        (OneTool("g"), {"type": "tool", "name": "g"}),
    ],
)
def test_the_answer_s_tool_stands_beside_the_others(choice: ToolChoice, sent: Json) -> None:
    taken = replace(TOOL, name="final_answer")
    request = ChatRequest(
        messages=[HI], tools=[taken, OTHER], tool_choice=choice, response_schema=SCHEMA
    )
    made = body(request)
    assert [tool["name"] for tool in made["tools"]] == ["final_answer", "g", "final_answer_"]
    assert made["tool_choice"] == sent


def test_lone_surrogates_never_reach_the_wire() -> None:
    request = ChatRequest(messages=[Message(role="user", content="a\ud800b")])
    sent = json.loads(ANTHROPIC.write(request, config(), ModelHints()).body)
    assert sent["messages"][0]["content"] == [text("a\ufffdb")]


@pytest.mark.parametrize(
    ("base", "address"),
    [
        ("https://api.anthropic.com", "https://api.anthropic.com/v1/messages"),
        ("https://api.anthropic.com/v1", "https://api.anthropic.com/v1/messages"),
        ("https://api.anthropic.com/v1/", "https://api.anthropic.com/v1/messages"),
        ("https://api.anthropic.com/v1/messages", "https://api.anthropic.com/v1/messages"),
        ("https://api.z.ai/api/anthropic", "https://api.z.ai/api/anthropic/v1/messages"),
        ("http://h/v1?a=b", "http://h/v1/messages?a=b"),
    ],
)
def test_the_address_is_found_with_or_without_its_version(base: str, address: str) -> None:
    asked = ANTHROPIC.write(ChatRequest(messages=[HI]), config(url=base), ModelHints())
    assert (asked.url, asked.headers) == (address, {"anthropic-version": VERSION})
