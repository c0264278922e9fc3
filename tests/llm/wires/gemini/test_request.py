from __future__ import annotations

import base64
import json
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

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
from octo_lab.llm.tool_names import alias
from octo_lab.llm.wires.gemini.contents import NO_SIGNATURE
from octo_lab.llm.wires.gemini.request import generate_request, request_bytes
from octo_lab.llm.wires.gemini.validate import request_problem
from tests.llm.damaged import Damager

Json = dict[str, Any]
HI = Message(role="user", content="hi")
PLAIN = ModelHints()
FIELDS: Json = {"type": "object", "properties": {"a": {"type": "string"}}}
TOOL = ToolSpec(name="f", description="does f", schema=FIELDS)
PICTURE = Media(mime="image/png", data=b"png", name="plot.png")
CALLS = (
    ToolCall(id="a", name="f", arguments='{"x": 1}'),
    ToolCall(id="b", name="g", arguments="{}"),
)
RESULTS = (
    Message(role="tool", tool_call_id="a", tool_name="f", content="1"),
    Message(role="tool", tool_call_id="b", tool_name="g", content="no", outcome="error"),
)


def config(model: str = "gemini-2.5-flash") -> ProviderConfig:
    return ProviderConfig(name="gemini", model=model, http=ModelHttp())


def body(request: ChatRequest, model: str = "gemini-2.5-flash", hints: ModelHints = PLAIN) -> Json:
    written = generate_request(request, config(model), hints)
    assert request_problem(written) is None
    return written


def contents(
    *history: Message, model: str = "gemini-2.5-flash", hints: ModelHints = PLAIN
) -> list[Json]:
    sent: list[Json] = body(ChatRequest(messages=history), model, hints)["contents"]
    return sent


def user(*parts: Json) -> Json:
    return {"role": "user", "parts": list(parts)}


def model_turn(*parts: Json) -> Json:
    return {"role": "model", "parts": list(parts)}


def inline(media: Media) -> Json:
    data = base64.b64encode(media.data).decode()
    return {"inlineData": {"mimeType": media.mime, "data": data}}


def called(call: ToolCall, signature: str = "") -> Json:
    part: Json = {
        "functionCall": {"id": call.id, "name": call.name, "args": json.loads(call.arguments)}
    }
    return {**part, "thoughtSignature": signature} if signature else part


def answered(id: str, name: str, **response: str) -> Json:
    return {"functionResponse": {"id": id, "name": name, "response": response}}


def test_only_fields_that_mean_something_are_sent() -> None:
    request = ChatRequest(messages=[HI], tool_choice="required", max_tokens=0, stop=("",))
    assert body(request) == {"contents": [user({"text": "hi"})]}


def test_every_choice_has_its_field() -> None:
    request = ChatRequest(
        messages=[Message(role="system", content="Be brief."), HI],
        max_tokens=9,
        temperature=0.0,
        stop=("a", "", "b", "b", "c", "d", "e", "f"),
        response_schema=FIELDS,
        effort="low",
    )
    assert body(request, hints=model_hints("gemini-2.5-flash")) == {
        "systemInstruction": {"parts": [{"text": "Be brief."}]},
        "contents": [user({"text": "hi"})],
        "generationConfig": {
            "maxOutputTokens": 9,
            "temperature": 0.0,
            "stopSequences": ["a", "b", "c", "d", "e"],
            "responseMimeType": "application/json",
            "responseSchema": {"type": "OBJECT", "properties": {"a": {"type": "STRING"}}},
            "thinkingConfig": {"includeThoughts": True, "thinkingBudget": 1024},
        },
    }


@pytest.mark.parametrize(
    ("choice", "calling"),
    [
        ("auto", None),
        ("required", {"mode": "ANY"}),
        ("none", {"mode": "NONE"}),
        (OneTool("f"), {"mode": "ANY", "allowedFunctionNames": ["f"]}),
    ],
)
def test_a_choice_of_tools_is_a_mode(choice: ToolChoice, calling: Json | None) -> None:
    other = ToolSpec(name="mcp.g", description=" ", schema={"type": "object"})
    sent = body(ChatRequest(messages=[HI], tools=[TOOL, other, TOOL], tool_choice=choice))
    parameters = {"type": "OBJECT", "properties": {"a": {"type": "STRING"}}}
    declared = [
        {"name": "f", "description": "does f", "parameters": parameters},
        {"name": alias("mcp.g"), "description": "mcp.g"},
    ]
    assert sent["tools"] == [{"functionDeclarations": declared}]
    assert sent.get("toolConfig") == (calling and {"functionCallingConfig": calling})


@pytest.mark.parametrize("choice", ["auto", "required", "none", OneTool("f")])
def test_without_tools_nothing_is_said_of_their_choice(choice: ToolChoice) -> None:
    assert "toolConfig" not in body(ChatRequest(messages=[HI], tool_choice=choice))


def test_a_demanded_tool_must_be_offered() -> None:
    with pytest.raises(UsageError, match=r"'g' is not offered \(offered: f\)"):
        body(ChatRequest(messages=[HI], tools=[TOOL], tool_choice=OneTool("g")))


@pytest.mark.parametrize(
    ("hint", "choice", "names", "calling"),
    [
        ("required", OneTool("f"), ["f"], {"functionCallingConfig": {"mode": "ANY"}}),
        ("auto", OneTool("f"), ["f"], None),
        ("auto", "none", [], None),
        ("auto", "required", ["f", "g"], None),
    ],
)
def test_what_cannot_be_demanded_is_the_only_thing_offered(
    hint: Any, choice: ToolChoice, names: list[str], calling: Json | None
) -> None:
    tools = [TOOL, replace(TOOL, name="g")]
    request = ChatRequest(messages=[HI], tools=tools, tool_choice=choice)
    sent = body(request, hints=replace(PLAIN, tool_choice=hint))
    declared = [one for tool in sent.get("tools", ()) for one in tool["functionDeclarations"]]
    assert ([one["name"] for one in declared], sent.get("toolConfig")) == (names, calling)


def test_calls_and_their_results_have_turns_of_their_own() -> None:
    history = (
        HI,
        Message(role="assistant", content="Let me look.", tool_calls=CALLS),
        *RESULTS,
        Message(role="user", content="and?"),
    )
    assert contents(*history) == [
        user({"text": "hi"}),
        model_turn({"text": "Let me look."}, *map(called, CALLS)),
        user(answered("a", "f", output="1"), answered("b", "g", error="no")),
        user({"text": "and?"}),
    ]


def test_a_history_that_begins_with_the_model_is_preceded_by_a_user() -> None:
    first, *rest = contents(Message(role="assistant", content="hello"), HI)
    assert first["role"] == "user"
    assert rest == [model_turn({"text": "hello"}), user({"text": "hi"})]


def test_neighbours_of_one_speaker_are_one_turn() -> None:
    picture = Message(role="tool", tool_call_id="a", tool_name="f", media=(PICTURE,), content="1")
    history = (
        HI,
        Message(role="assistant", tool_calls=CALLS[:1]),
        picture,
        Message(role="user", content="nice"),
    )
    shown = {"text": "What the tools returned beside their text:"}
    assert contents(*history)[2:] == [
        user(answered("a", "f", output="1")),
        user(shown, inline(PICTURE), {"text": "nice"}),
    ]


def test_the_last_result_s_pictures_are_shown_too() -> None:
    picture = replace(RESULTS[0], media=(PICTURE,))
    sent = contents(HI, Message(role="assistant", tool_calls=CALLS[:1]), picture)
    shown = {"text": "What the tools returned beside their text:"}
    assert sent[2:] == [user(answered("a", "f", output="1")), user(shown, inline(PICTURE))]


def test_media_that_cannot_be_sent_are_mentioned() -> None:
    media = (
        PICTURE,
        Media(mime="application/pdf", data=b"pdf"),
        Media(mime="image/gif", data=b"gif", name="a.gif"),
        replace(PICTURE, data=b""),
    )
    message = Message(role="user", content="see", media=media)
    mentions = "see\n[image/gif: a.gif]\n[image/png: plot.png]"
    assert contents(message) == [user({"text": mentions}, *map(inline, media[:2]))]
    blind = contents(Message(role="user", media=(PICTURE,)), hints=replace(PLAIN, vision=False))
    assert blind == [user({"text": "[image/png: plot.png]"})]


def test_arguments_that_are_no_object_are_told_as_they_are() -> None:
    call = ToolCall(id="a", name="f", arguments='{"x": NaN}')
    sent = contents(HI, Message(role="assistant", tool_calls=(call,)), RESULTS[0])
    assert sent[1]["parts"][0]["functionCall"]["args"] == {"invalid_json": '{"x": NaN}'}


def test_a_model_without_instructions_gets_them_from_the_user() -> None:
    request = ChatRequest(messages=[Message(role="system", content="Be brief."), HI])
    sent = body(request, "gemma-3", replace(PLAIN, system="user"))
    assert sent == {"contents": [user({"text": "Be brief."}, {"text": "hi"})]}


def test_a_model_without_tools_reads_of_its_calls() -> None:
    request = ChatRequest(
        messages=[HI, Message(role="assistant", tool_calls=CALLS), *RESULTS], tools=[TOOL]
    )
    sent = body(request, hints=replace(PLAIN, tools=False))
    assert "tools" not in sent
    assert {name for turn in sent["contents"] for part in turn["parts"] for name in part} == {
        "text"
    }


WORDS = "Answer with JSON and nothing else. It must fit this JSON Schema: "


@pytest.mark.parametrize(
    ("model", "structured", "tools", "form", "words"),
    [
        ("gemini-2.5-flash", "schema", (), ["responseMimeType", "responseSchema"], ""),
        ("gemini-2.5-flash", "schema", (TOOL,), [], WORDS),
        ("gemini-3-flash", "schema", (TOOL,), ["responseMimeType", "responseSchema"], ""),
        ("gemini-2.5-flash", "object", (), ["responseMimeType"], WORDS),
        ("gemini-2.5-flash", "words", (), [], WORDS),
    ],
)
def test_json_is_asked_for_as_the_model_takes_it(
    model: str, structured: Any, tools: tuple[ToolSpec, ...], form: list[str], words: str
) -> None:
    request = ChatRequest(messages=[HI], tools=tools, response_schema=FIELDS)
    sent = body(request, model, replace(PLAIN, structured=structured))
    said = json.dumps(sent.get("systemInstruction", {}))
    assert (list(sent.get("generationConfig", ())), WORDS in said) == (form, bool(words))


def test_any_json_is_asked_for_without_a_schema() -> None:
    sent = body(ChatRequest(messages=[HI], response_schema={}))
    assert sent["generationConfig"] == {"responseMimeType": "application/json"}


@pytest.mark.parametrize(
    ("model", "effort", "told"),
    [
        ("gemini-2.0-flash", "high", None),
        ("gemini-2.5-flash", None, {}),
        ("gemini-2.5-pro", "minimal", {"thinkingBudget": 512}),
        ("models/gemini-2.5-flash-lite", "medium", {"thinkingBudget": 8192}),
        ("gemini-2.5-flash", "high", {"thinkingBudget": 24576}),
        ("gemini-3-flash-preview", "minimal", {"thinkingLevel": "MINIMAL"}),
        ("gemini-3-flash-preview", "medium", {"thinkingLevel": "MEDIUM"}),
        ("gemini-3-pro-preview", "minimal", {"thinkingLevel": "LOW"}),
        ("gemini-3-pro-preview", "medium", {"thinkingLevel": "HIGH"}),
        ("gemini-3.1-pro-preview", "medium", {"thinkingLevel": "MEDIUM"}),
        ("gemini-flash-latest", "low", {"thinkingLevel": "LOW"}),
    ],
)
def test_effort_is_told_as_the_generation_takes_it(
    model: str, effort: Effort | None, told: Json | None
) -> None:
    sent = body(ChatRequest(messages=[HI], effort=effort), model, model_hints(model))
    thinking = sent.get("generationConfig", {}).get("thinkingConfig")
    assert thinking == (None if told is None else {"includeThoughts": True, **told})


def said(*parts: list[Any], model: str = "gemini-3-flash", name: str = "gemini") -> Message:
    state = ProviderState(provider=name, model=model, blob=json.dumps(parts))
    return Message(role="assistant", content="abc", tool_calls=CALLS, provider_state=state)


WHOLE = (
    ["thought", "hm", "dDA="],
    ["text", 2, "dDE="],
    ["text", 1, ""],
    ["call", "a", "dDI="],
    ["text", 0, "dDM="],
    ["call", "b", "dDQ="],
)


def replayed(message: Message, hints: ModelHints = PLAIN, model: str = "gemini-3-flash") -> Json:
    return contents(HI, message, *RESULTS, model=model, hints=hints)[1]


def test_signatures_go_back_verbatim_on_their_own_parts() -> None:
    assert replayed(said(*WHOLE)) == model_turn(
        {"text": "hm", "thought": True, "thoughtSignature": "dDA="},
        {"text": "ab", "thoughtSignature": "dDE="},
        {"text": "c"},
        called(CALLS[0], "dDI="),
        {"text": "", "thoughtSignature": "dDM="},
        called(CALLS[1], "dDQ="),
    )


def test_signatures_of_calls_outlive_an_edited_text() -> None:
    edited = replace(said(*WHOLE), content="another")
    assert replayed(edited) == model_turn(
        {"text": "another"}, called(CALLS[0], "dDI="), called(CALLS[1], "dDQ=")
    )


@pytest.mark.parametrize(
    "message",
    [said(*WHOLE, model="gemini-3-pro"), said(*WHOLE, name="proxy")],
    ids=["another model", "another provider"],
)
@pytest.mark.parametrize(
    ("model", "bare"), [("gemini-3-flash", NO_SIGNATURE), ("gemini-2.5-pro", "")]
)
def test_signatures_of_another_are_not_sent(message: Message, model: str, bare: str) -> None:
    made = (called(call, bare) for call in CALLS)
    assert replayed(message, model=model) == model_turn({"text": "abc"}, *made)


def test_lost_signatures_are_said_to_be_lost() -> None:
    hints = replace(PLAIN, replay_state=False)
    made = (called(call, NO_SIGNATURE) for call in CALLS)
    assert replayed(said(*WHOLE), hints) == model_turn({"text": "abc"}, *made)


def test_a_call_that_the_vendor_left_unsigned_beside_a_signed_one_stays_so() -> None:
    message = said(["text", 3, ""], ["call", "a", "dDI="], ["call", "b", ""])
    assert replayed(message) == model_turn(
        {"text": "abc"}, called(CALLS[0], "dDI="), called(CALLS[1])
    )


def test_a_signed_text_signs_no_call() -> None:
    message = said(["text", 3, "dDE="], ["call", "a", ""], ["call", "b", ""])
    assert replayed(message) == model_turn(
        {"text": "abc", "thoughtSignature": "dDE="},
        *(called(call, NO_SIGNATURE) for call in CALLS),
    )


@pytest.mark.parametrize(
    "blob",
    [
        *(
            "",
            "no json",
            "null",
            "{}",
            "[7]",
            '[["text", 3]]',
            '[["text", -3, "dA=="]]',
            "[" * 9999,
        ),
        *('[["text", true, ""]]', '[["call", 1, ""]]', '[["call", "a", null]]', '[["x", 1, ""]]'),
        '[[["text"], 3, ""]]',
    ],
)
def test_a_state_of_another_shape_is_no_state(blob: str) -> None:
    state = ProviderState(provider="gemini", model="gemini-2.5-flash", blob=blob)
    message = Message(role="assistant", content="abc", tool_calls=CALLS, provider_state=state)
    assert replayed(message, model="gemini-2.5-flash") == model_turn(
        {"text": "abc"}, *map(called, CALLS)
    )


@given(st.integers(0, 10**9), st.sampled_from(["gemini-2.5-flash", "gemini-3-flash"]))
def test_whatever_the_history_the_request_is_accepted(seed: int, model: str) -> None:
    history = Damager(seed, [("gemini", model)]).history()
    for hints in (model_hints(model), replace(model_hints(model), tools=False, vision=False)):
        sent = request_bytes(ChatRequest(messages=history, tools=[TOOL]), config(model), hints)
        assert request_problem(json.loads(sent)) is None


def test_lone_surrogates_and_endless_numbers_become_what_servers_read() -> None:
    request = ChatRequest(messages=[Message(role="user", content="a\ud800b")])
    assert json.loads(request_bytes(request, config(), PLAIN)) == {
        "contents": [user({"text": "a\ufffdb"})]
    }
