from __future__ import annotations

import json
import subprocess
import sys
from contextlib import aclosing
from pathlib import Path

import pandas as pd
import pytest

from octo_lab.core.errors import BadRequest
from octo_lab.core.messages import ChatRequest, Message, ToolSpec
from octo_lab.core.stream import Done, StreamEvent, TextDelta, ToolCalled, UsageReported
from octo_lab.llm.http import ModelHttp
from octo_lab.llm.offline.languages import load_languages
from octo_lab.llm.provider_config import ProviderConfig
from octo_lab.llm.providers.offline import ENTRY
from octo_lab.llm.registry import builtin_providers
from tests.llm.offline.world import Answered, World, ask

pytestmark = pytest.mark.anyio

PYTHON = ToolSpec(name="python", description="", schema={"type": "object"})
SAY = {code: language.say for code, language in load_languages().items()}
SORRY = f"{SAY['en']['sorry']}\n\n{SAY['en']['connect']}"


@pytest.fixture
def world(tmp_path: Path) -> World:
    return World(workspace=tmp_path)


def request(text: str, *tools: ToolSpec) -> ChatRequest:
    return ChatRequest(messages=[Message(role="user", content=text)], tools=tools)


async def events(asked: ChatRequest) -> list[StreamEvent]:
    config = ProviderConfig(name="offline", model="helper", http=ModelHttp())
    async with aclosing(ENTRY.open(config).stream(asked)) as stream:
        return [event async for event in stream]


def names(answered: Answered) -> list[str]:
    return [call.name for call in answered.calls]


def test_it_is_listed_as_a_provider_that_needs_no_key() -> None:
    entry = builtin_providers()["offline"]
    assert (entry.needs_key, entry.default_model) == (False, "helper")


async def test_a_call_is_streamed_whole_then_usage_then_done() -> None:
    called, usage, done = await events(request("what is 17 * 23?", PYTHON))
    assert isinstance(called, ToolCalled)
    assert called.call.name == "python"
    assert json.loads(called.call.arguments) == {"code": "17 * 23"}
    assert isinstance(usage, UsageReported)
    assert usage.usage.requests == 1
    assert usage.usage.input_tokens > 0
    assert done == Done("tool_use")


async def test_words_are_streamed_one_by_one_and_add_up_to_the_answer() -> None:
    got = await events(request("write a poem"))
    words = [event.text for event in got if isinstance(event, TextDelta)]
    assert "".join(words) == SORRY
    assert all(len(word.split()) == 1 for word in words)
    assert got[-1] == Done("end_turn")


async def test_the_same_request_gets_the_same_answer() -> None:
    asked = request("find `needle` in src", PYTHON)
    assert await events(asked) == await events(asked)


async def test_a_json_schema_is_refused_with_the_next_step() -> None:
    asked = ChatRequest(messages=[Message(role="user", content="hi")], response_schema={})
    with pytest.raises(BadRequest, match="JSON schema") as caught:
        await events(asked)
    assert "OPENAI_API_KEY" in caught.value.hint


@pytest.mark.parametrize(
    "text",
    ["", "   \n\t ", "\ud800", "x" * 100_000, "🙂" * 50_000, "((((((" * 9000, "\0", "'" * 5000],
    ids=["empty", "blank", "surrogate", "long word", "emoji", "brackets", "nul", "quotes"],
)
async def test_any_input_is_answered_without_a_call(text: str, world: World) -> None:
    answered = await ask(world, text.encode(errors="replace").decode())
    assert answered.calls == ()
    assert answered.text


async def test_of_a_long_message_the_start_is_what_is_asked(world: World) -> None:
    answered = await ask(world, "read notes.txt\n\n" + "lorem ipsum " * 9000)
    assert names(answered) in (["read_file"], [])


@pytest.mark.parametrize("text", ["hello", "danke!", "quién eres?", "aide", "你能做什么"])
async def test_a_greeting_gets_a_short_answer_with_three_requests_to_try(
    text: str, world: World
) -> None:
    answered = await ask(world, text)
    assert answered.calls == ()
    assert answered.text.count("\n- `") == 3


@pytest.mark.parametrize("code", SAY)
@pytest.mark.parametrize("kind", ["try_kernel", "try_files"])
async def test_each_request_to_try_calls_a_tool(code: str, kind: str, world: World) -> None:
    tools = world.tools() if kind == "try_kernel" else world.file_tools()
    for line in SAY[code][kind].splitlines():
        answered = await ask(world, line.removeprefix("- ").strip("`"), tools=tools)
        assert answered.calls, line
        assert not any(result.outcome != "ok" for result in answered.results), line


async def test_a_name_that_is_a_word_is_looked_up_before_it_is_computed_with(world: World) -> None:
    answered = await ask(world, "what is the mean of revenue in sales?")
    assert names(answered) == ["list_variables", "inspect", "python"]
    assert answered.text == '`sales["revenue"].mean()` gives `150.0`.'


async def test_without_the_name_the_only_dataframe_is_meant(world: World) -> None:
    world.namespace = {"shop": pd.DataFrame({"price": [1, 3]}), "x": 1}
    answered = await ask(world, "what is the average price?")
    assert answered.text == '`shop["price"].mean()` gives `2.0`.'


async def test_what_no_variable_is_called_is_refused(world: World) -> None:
    answered = await ask(world, "the average salary of a nurse")
    assert names(answered) in (["list_variables"], [])
    assert answered.text == SORRY


async def test_a_denied_call_is_reported_in_the_language_of_the_request(world: World) -> None:
    answered = await ask(world, "Rechne bitte 7 * 8 aus", decision="deny")
    assert answered.text == SAY["de"]["denied"].format(tool="python")


async def test_a_failed_call_is_reported_as_it_failed(world: World) -> None:
    answered = await ask(world, "read nothere.txt")
    assert names(answered) == ["read_file"]
    assert answered.text.startswith("That did not work: ")
    assert "nothere.txt" in answered.text


async def test_without_a_kernel_it_says_that_it_cannot_compute_and_uses_its_other_tools(
    world: World,
) -> None:
    sum_ = await ask(world, "what is 17 * 23?", tools=world.file_tools(), channel="terminal")
    assert sum_.calls == ()
    assert sum_.text == SAY["en"]["no_kernel"].format(tool="python")
    listed = await ask(world, "list the files in src", tools=world.file_tools(), channel="terminal")
    assert names(listed) == ["list_dir"]


async def test_a_file_found_by_what_it_mentions_is_read(world: World) -> None:
    answered = await ask(world, 'read the file that mentions "octopus"')
    assert names(answered) == ["grep", "read_file"]
    assert "The octopus guide." in answered.text


async def test_brackets_in_a_searched_text_mean_themselves(world: World) -> None:
    answered = await ask(world, 'search for "def load()" in src')
    assert json.loads(answered.calls[0].arguments)["pattern"] == r"def load\(\)"
    assert "src/app.py:3:def load():" in answered.text


async def test_an_attached_variable_is_the_one_meant(world: World) -> None:
    text = "describe the variable\n\n[attached: scores]\n{'Ann': 3}\n[end of scores]"
    answered = await ask(world, text)
    assert [json.loads(call.arguments) for call in answered.calls] == [{"name": "scores"}]


async def test_earlier_turns_do_not_count_as_results_of_this_one(world: World) -> None:
    first = await ask(world, "what is 1 + 1?")
    history = [
        Message(role="user", content="what is 1 + 1?"),
        Message(role="assistant", tool_calls=first.calls),
        *first.results,
        Message(role="assistant", content=first.text),
    ]
    second = await ask(world, "what is 2 + 2?", history=history)
    assert second.text == "`2 + 2` gives `4`."
    assert second.calls[0].id != first.calls[0].id


async def test_file_text_cannot_break_out_of_its_block(world: World) -> None:
    (world.workspace / "trick.md").write_text("```\n# not a heading of the answer\n```\n")
    answered = await ask(world, "read trick.md")
    assert "````text\n" in answered.text


async def test_octo_explains_itself_from_its_pages(world: World) -> None:
    answered = await ask(world, "how do I connect a model?")
    assert names(answered) == ["octo_docs"]
    assert "OPENAI_API_KEY" in answered.text
    assert answered.text.endswith("\n\nFrom octo_lab's docs, page `connect`.")
    assert "(octo_lab docs," not in answered.text
    assert answered.text not in answered.results[0].content


async def test_the_passage_that_fits_the_question_is_quoted(world: World) -> None:
    answered = await ask(world, "what does --no-tools do in %%octo?")
    assert "`--no-tools`" in answered.text
    assert "byte for byte" not in answered.text  # the lead of the same page


@pytest.mark.parametrize(
    ("text", "tool"),
    [
        ("what is 17 * 23?", "python"),
        ("list the files in src", "list_dir"),
        ("which variables are there?", "list_variables"),
    ],
)
async def test_a_tool_that_the_turn_left_out_is_named_with_the_next_step(
    text: str, tool: str, world: World
) -> None:
    answered = await ask(world, text, tools=())
    assert answered.text == SAY["en"]["missing_tool"].format(tool=tool)
    assert "`--no-tools`" in answered.text


@pytest.mark.parametrize("channel", ["terminal", "web"])
@pytest.mark.parametrize("text", ["what is 12*7", "was ist 12*7?", "which variables are there?"])
async def test_where_there_is_no_kernel_no_option_is_blamed(
    text: str, channel: str, world: World
) -> None:
    answered = await ask(world, text, tools=world.file_tools(), channel=channel)
    assert answered.calls == ()
    assert "Jupyter" in answered.text
    assert "otebook" in answered.text
    assert "--no-tools" not in answered.text


def test_importing_the_provider_loads_neither_numpy_nor_wordllama() -> None:
    code = (
        "import sys, octo_lab.llm.providers.offline;"
        "print(sorted({'numpy', 'wordllama', 'pandas'} & set(sys.modules)))"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout.strip() == "[]"
