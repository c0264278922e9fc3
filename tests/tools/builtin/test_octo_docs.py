from __future__ import annotations

from pathlib import Path

import pytest

from octo_lab.llm.offline.plan import TOPICS
from octo_lab.tools.builtin.octo_docs import TOOL, find_passages, passages
from octo_lab.tools.tool import ToolContext

pytestmark = pytest.mark.anyio

CTX = ToolContext(
    workspace=Path("/w"),
    channel="terminal",
    chat_id="c",
    session="s",
    turn_id="t",
    call_id="1",
    report=lambda line: None,
)

# Found by their words, but nothing the offline model is asked about.
UNASKED = ("hooks", "providers", "safety", "web")


def test_every_topic_of_the_offline_model_has_its_page() -> None:
    assert {passage.page for passage in passages()} == {*TOPICS, *UNASKED}
    assert {topic: find_passages(query)[0].page for topic, query in TOPICS.items()} == {
        topic: topic for topic in TOPICS
    }


@pytest.mark.parametrize(
    ("query", "title"),
    [
        ("slash commands", "Slash commands"),
        ("OCTO_HOME data folder stored", "Where data is stored"),
        ("make my function a tool decorator", "Make your own tool: add a function as a tool"),
        ("exit codes of octo run", "Options and exit codes of octo run"),
        ("entry point provider package", "A provider of a package"),
    ],
)
def test_the_best_passage_comes_first(query: str, title: str) -> None:
    assert find_passages(query)[0].title == title


async def test_passages_are_shown_with_their_page() -> None:
    text = await TOOL.run(CTX, TOOL.parse({"query": "cassettes", "limit": 1}))
    assert str(text).startswith("### Cassettes: record and replay model traffic\n")
    assert "(octo_lab docs, cassettes)" in str(text)


async def test_a_query_that_fits_nothing_gets_the_list_of_pages() -> None:
    text = await TOOL.run(CTX, TOOL.parse({"query": "zzz qqq"}))
    assert str(text).startswith("No passage matches 'zzz qqq'. There are pages about: cassettes,")
