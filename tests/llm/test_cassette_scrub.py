from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest

from octo_lab.llm.cassette_scrub import scrub
from octo_lab.security.redact import Redactor

KEY = "lab-key-0123456789"


def chat(text: str) -> str:
    data = {"id": "1", "choices": [{"index": 0, "delta": {"content": text}}]}
    return f"data: {json.dumps(data)}\n\n"


def anthropic(text: str) -> str:
    delta = {"type": "text_delta", "text": text}
    data = {"type": "content_block_delta", "index": 0, "delta": delta}
    return f"event: content_block_delta\r\ndata: {json.dumps(data)}\r\n\r\n"


def called(text: str) -> str:
    made = [{"index": 0, "function": {"arguments": text}}]
    return f"data: {json.dumps({'choices': [{'delta': {'tool_calls': made}}]})}\n\n"


@pytest.mark.parametrize("event", [chat, anthropic, called])
@pytest.mark.parametrize("size", [1, 2, 5, 40])
def test_a_key_spelled_over_several_events_is_taken_out(
    event: Callable[[str], str], size: int
) -> None:
    said = f"it is {KEY}, I say"
    events = [event(said[at : at + size]) for at in range(0, len(said), size)]

    scrubbed = scrub([*events, "data: [DONE]\n\n"], Redactor([KEY]))

    assert scrubbed[-1] == "data: [DONE]\n\n"
    assert [one.split("data:")[0] for one in scrubbed[:-1]] == [
        one.split("data:")[0] for one in events
    ]
    texts = [told(json.loads(one.split("data:")[1])) for one in scrubbed[:-1]]
    assert "".join(texts) == "it is ***, I say"


def test_events_without_a_key_stay_as_they_came() -> None:
    events = [chat("lab-"), "data: {odd json\n\n", chat("key-is-none"), ": ping\n\n", "{}"]

    assert scrub(events, Redactor([KEY])) == events


def told(data: dict[str, Any]) -> str:
    delta = data["delta"] if "delta" in data else data["choices"][0]["delta"]
    if "tool_calls" in delta:
        return str(delta["tool_calls"][0]["function"]["arguments"])
    return str(delta.get("content", delta.get("text")))
