from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from octo_lab.core.messages import ChatRequest, Message, ProviderState, ToolCall, ToolSpec
from octo_lab.security.outgoing import Outgoing, masked_json, masked_message
from octo_lab.security.redact import Redactor

SECRET = 'hunter2"hunter2'
SAMPLE = "sk-ant-api03-0123456789abcdefghij"
MASK = Redactor([SECRET])


def state(blob: str) -> ProviderState:
    return ProviderState(provider="p", model="m", blob=blob)


def test_a_request_that_hides_nothing_is_the_very_same() -> None:
    request = ChatRequest(messages=[Message(role="user", content="hi")])

    assert Outgoing(MASK)(request) is request


def test_every_part_of_a_message_is_masked() -> None:
    call = ToolCall(id="c", name="f", arguments=json.dumps({"a": SECRET}))
    said = Message(
        role="assistant", content=f"x {SECRET}", reasoning=SAMPLE, tool_calls=(call,), diff=SECRET
    )

    sent = Outgoing(MASK)(ChatRequest(messages=[said]))

    assert list(sent.messages) == [
        Message(
            role="assistant",
            content="x ***",
            reasoning="sk-a***",
            tool_calls=(ToolCall(id="c", name="f", arguments='{"a": "***"}'),),
            diff="***",
        )
    ]


def test_what_a_tool_and_a_schema_hold_is_masked() -> None:
    schema = {"type": "object", "properties": {"key": {"default": SECRET, "enum": [SAMPLE, 1]}}}
    tool = ToolSpec(name="f", description=f"asks with {SECRET}", schema=schema)
    plain = ToolSpec(name="g", description="asks", schema={"type": "object"})
    request = ChatRequest(messages=[], tools=[tool, plain], response_schema=schema)

    outgoing = Outgoing(MASK)
    sent = outgoing(request)

    hidden = {"type": "object", "properties": {"key": {"default": "***", "enum": ["sk-a***", 1]}}}
    assert sent.tools[0] == ToolSpec(name="f", description="asks with ***", schema=hidden)
    assert sent.response_schema == hidden
    assert sent.tools[1] is plain
    assert outgoing(request).tools[0] is sent.tools[0]


def test_a_message_is_masked_once_and_stays_the_same_object() -> None:
    outgoing = Outgoing(MASK)
    request = ChatRequest(messages=[Message(role="user", content=SECRET)])

    assert outgoing(request).messages[0] is outgoing(request).messages[0]


@pytest.mark.parametrize(
    ("said", "kept"),
    [
        (Message(role="assistant", content="x", provider_state=state("signed")), True),
        (Message(role="assistant", content="x", provider_state=state(SAMPLE)), True),
        (Message(role="assistant", content="x", provider_state=state(SECRET)), False),
        (Message(role="assistant", content="x", provider_state=state("hunter2%22hunter2")), False),
        (Message(role="assistant", content=SECRET, provider_state=state("signed")), False),
    ],
)
def test_private_state_is_sent_verbatim_or_not_at_all(said: Message, kept: bool) -> None:
    sent = masked_message(said, MASK)

    assert sent.provider_state == (said.provider_state if kept else None)


@pytest.mark.parametrize(
    ("text", "masked"),
    [
        ('{"password": 1234567890}', '{"password": "***"}'),
        ('{"api_key": "12345678", "n": 1}', '{"api_key": "***", "n": 1}'),
        ('{"c": "-----BEGIN PRIVATE KEY-----\\nMIIE", "d": "a-b"}', None),
        ("{broken password=hunter2hunter2", "{broken password=***"),
        ("[" * 900 + '"sk-ant-a1b2c3d4e5f6g7h8"' + "]" * 900, "[" * 900 + '"sk-a***"' + "]" * 900),
    ],
)
def test_json_stays_json(text: str, masked: str | None) -> None:
    said = masked_json(text, MASK)

    if masked is None:
        assert json.loads(said) == {"c": "-----BEGIN PRIVATE KEY-----***", "d": "a-b"}
    else:
        assert said == masked


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.sampled_from([SECRET, SAMPLE, "x", "a\\n"]),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.sampled_from(["password", "secret", "a", SECRET]), inner, max_size=3)
    ),
    max_leaves=8,
)


@given(JSON, st.booleans())
def test_whatever_json_is_masked_stays_json_and_holds_no_secret(value: object, plain: bool) -> None:
    said = masked_json(json.dumps(value, ensure_ascii=plain), MASK)

    json.loads(said)
    assert not MASK.knows(said)
    assert SAMPLE not in said
