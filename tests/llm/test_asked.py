from __future__ import annotations

import json
from typing import Any

import pytest

from octo_lab.llm.asked import comparable, dialect_of

GEMINI = "/v1beta/models/gemini-m:streamGenerateContent"


def chat(id: str, system: str, _sign: str) -> Any:
    call = {"id": id, "type": "function", "function": {"name": "f", "arguments": '{"id": "x"}'}}
    return {
        "model": "m",
        "messages": [
            {"role": "system", "content": system},
            {"role": "user", "content": "hi"},
            {"role": "assistant", "content": None, "tool_calls": [call]},
            {"role": "tool", "tool_call_id": id, "content": "ok"},
        ],
        "tools": [{"about": system}],
    }


def responses(id: str, system: str, sign: str) -> Any:
    return {
        "model": "m",
        "instructions": system,
        "input": [
            {"role": "developer", "content": system},
            {"role": "user", "content": [{"type": "input_text", "text": "hi"}]},
            {"type": "reasoning", "id": f"rs_{id}", "summary": [], "encrypted_content": sign},
            {"type": "function_call", "call_id": id, "name": "f", "arguments": '{"id": "x"}'},
            {"type": "function_call_output", "call_id": id, "output": "ok"},
        ],
        "tools": [{"about": system}],
    }


def anthropic(id: str, system: str, sign: str) -> Any:
    return {
        "model": "m",
        "system": [{"type": "text", "text": system}],
        "messages": [
            {"role": "user", "content": [{"type": "text", "text": "hi"}]},
            {
                "role": "assistant",
                "content": [
                    {"type": "thinking", "thinking": "hm", "signature": sign},
                    {"type": "redacted_thinking", "data": sign},
                    {"type": "tool_use", "id": id, "name": "f", "input": {"id": "x"}},
                ],
            },
            {"role": "user", "content": [{"type": "tool_result", "tool_use_id": id}]},
        ],
        "tools": [{"about": system}],
    }


def gemini(id: str, system: str, sign: str) -> Any:
    call = {"id": id, "name": "f", "args": {"id": "x"}}
    return {
        "systemInstruction": {"parts": [{"text": system}]},
        "contents": [
            {"role": "user", "parts": [{"text": "hi"}]},
            {"role": "model", "parts": [{"functionCall": call, "thoughtSignature": sign}]},
            {
                "role": "user",
                "parts": [{"functionResponse": {"id": id, "name": "f", "response": {"id": "x"}}}],
            },
        ],
        "tools": [{"about": system}],
    }


MAKERS = pytest.mark.parametrize("make", [chat, responses, anthropic, gemini])


def asked(body: Any, path: str = GEMINI) -> Any:
    return comparable(json.dumps(body).encode(), path)


@MAKERS
def test_ids_signatures_system_prompts_and_tools_are_not_compared(make: Any) -> None:
    one = make("call_1", "version 1", "c2lnbmVk")
    two = make("toolu_01XyZ", "version 2", "b3RoZXI=")
    assert asked(one) == asked(two)


@MAKERS
@pytest.mark.parametrize("word", ["hi", "x", "f", "m"])
def test_words_arguments_names_and_the_model_are_compared(make: Any, word: str) -> None:
    one = make("call_1", "system", "sign")
    text = json.dumps(one)
    other = text.replace(f'"{word}"', '"another"').replace(f'\\"{word}\\"', '\\"another\\"')
    path = GEMINI.replace("gemini-m", "gemini-n") if word == "m" else GEMINI
    assert asked(one) != comparable(other.encode(), path)


def test_two_calls_that_change_places_are_another_request() -> None:
    one = [{"type": "function_call_output", "call_id": id, "output": "ok"} for id in "ab"]
    two = [{"type": "function_call_output", "call_id": id, "output": "ok"} for id in "aa"]
    assert asked({"input": one}) != asked({"input": two})


def test_what_is_asked_of_gemini_names_the_model_of_its_path() -> None:
    assert asked({"contents": []}) == {"model": "gemini-m", "contents": []}


def test_texts_to_embed_and_unknown_bodies_are_compared_whole() -> None:
    assert asked({"model": "m", "input": ["a", "b"]}, "/v1/embeddings") == {
        "model": "m",
        "input": ["a", "b"],
    }
    spoken = {"model": "m", "input": "a", "voice": "v"}
    assert asked(spoken, "/v1/audio/speech") == spoken


def form(boundary: str, content: bytes) -> bytes:
    mark = f"--{boundary}".encode()
    return b"%b\r\nname: file\r\n\r\n%b\r\n%b--\r\n" % (mark, content, mark)


def test_a_form_is_compared_by_its_bytes_but_not_by_its_boundary() -> None:
    sound = b"RIFF\0\xff\xfe"
    assert comparable(form("a1", sound)) == comparable(form("b2", sound))
    assert comparable(form("a1", sound)) != comparable(form("a1", sound + b"!"))
    assert set(comparable(b"\xff")) == {"model", "form"}


@pytest.mark.parametrize(
    ("path", "dialect"),
    [
        ("/v1/chat/completions", "chat"),
        ("/v1/responses", "responses"),
        ("/api/anthropic/v1/messages", "anthropic"),
        (GEMINI, "gemini"),
        ("/v1/embeddings", ""),
        ("/v1/audio/transcriptions", ""),
    ],
)
def test_the_path_tells_the_dialect(path: str, dialect: str) -> None:
    assert dialect_of(path) == dialect
