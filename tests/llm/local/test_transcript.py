from __future__ import annotations

from collections.abc import Sequence

import pytest

from octo_lab.core.errors import UsageError
from octo_lab.core.messages import ChatRequest, Message, OneTool, ToolCall, ToolChoice, ToolSpec
from octo_lab.llm.local.schema import answer_schema
from octo_lab.llm.local.transcript import emulates, spoken

READ = ToolSpec(
    name="read_file",
    description="Read a text file.\n\nReturns its lines.",
    schema={
        "type": "object",
        "properties": {
            "path": {"type": "string"},
            "mode": {"enum": ["all", "head"]},
            "lines": {"type": "array", "items": {"type": "integer"}},
        },
        "required": ["path"],
    },
)
TIME = ToolSpec(name="get_time", description="The time.", schema={"type": "object"})
TEXT = {"type": "string"}
HELLO = (Message(role="user", content="hello"),)


def request(choice: ToolChoice = "auto", messages: Sequence[Message] = HELLO) -> ChatRequest:
    return ChatRequest(messages=messages, tools=[READ, TIME], tool_choice=choice, stop=("\n",))


def test_tools_are_told_in_words_and_the_answer_is_json() -> None:
    told = spoken(request())

    assert (told.tools, told.stop) == ((), ())
    assert told.response_schema == answer_schema([READ, TIME], TEXT)
    assert [(one.role, one.content) for one in told.messages] == [
        (
            "system",
            "Write one JSON object and nothing else. With it you "
            'answer: {"answer": "…"}, or call a tool: {"tool": "NAME", "arguments": {…}}\n'
            "The tools:\n"
            '- read_file(path: string, mode?: "all"|"head", lines?: list of integer): '
            "Read a text file.\n"
            "- get_time(): The time.",
        ),
        ("user", "hello"),
    ]


@pytest.mark.parametrize(
    ("choice", "tools"), [("required", [READ, TIME]), (OneTool("get_time"), [TIME])]
)
def test_a_call_that_must_be_made_leaves_no_other_answer(
    choice: ToolChoice, tools: list[ToolSpec]
) -> None:
    told = spoken(request(choice))

    assert told.response_schema == answer_schema(tools, None)
    assert '"answer"' not in told.messages[0].content


def test_without_a_choice_of_tools_the_request_stays_one_for_text() -> None:
    told = spoken(request("none"))

    assert not emulates(request("none"))
    assert (told.messages, told.response_schema, told.stop) == ([*HELLO], None, ("\n",))


def test_a_tool_that_is_not_offered_cannot_be_demanded() -> None:
    with pytest.raises(UsageError, match="'nonesuch'"):
        spoken(request(OneTool("nonesuch")))


def test_earlier_calls_and_results_are_text() -> None:
    call = ToolCall(id="1", name="read_file", arguments='{"path": "ä"}')
    messages = [
        Message(role="system", content="Be short."),
        *HELLO,
        Message(role="assistant", content="I look.", tool_calls=(call,)),
        Message(role="tool", content="gone", tool_call_id="1", outcome="error"),
    ]

    told = spoken(request(messages=messages)).messages

    assert [one.role for one in told] == ["system", "system", "user", "assistant", "user"]
    assert told[3].content == 'I look.\n{"tool": "read_file", "arguments": {"path": "ä"}}'
    assert told[4].content == "Result of read_file (error):\ngone"


def test_an_answer_in_a_schema_is_one_of_the_ways() -> None:
    schema = {"type": "object", "properties": {"city": TEXT}}
    asked = ChatRequest(messages=HELLO, tools=[TIME], response_schema=schema)

    assert spoken(asked).response_schema == answer_schema([TIME], schema)
