from __future__ import annotations

from pathlib import Path

import pytest

from octo_lab.tools.builtin.octo_docs import passages
from tests.llm.offline.world import World, ask

pytestmark = pytest.mark.anyio

# What is asked, and how the title of the passage that answers it begins.
QUESTIONS = [
    ("how do I switch the model?", "Choose"),
    ("how do I connect a model?", "Connect"),
    ("can I put the api key in a config file?", "With the config"),
    ("how do I start a new conversation", "Start or"),
    ("which slash commands exist?", "Slash"),
    ("are conversations saved?", "Sessions and"),
    ("what happens when I run a cell again?", "Replaced"),
    ("why does it ask before running python", "Approvals"),
    ("how do I add a tool", "Make your own"),
    ("how to forbid a tool", "Allow and"),
    ("which tools does octo_lab have?", "Tools and"),
    ("how do I attach a variable to a prompt", "Attach"),
    ("what options does %octo have", "Options"),
    ("how do I stop a running cell turn of octo", "Interrupt"),
    ("where is the data folder", "Where data"),
    ("what settings are there", "Settings"),
    ("what is a workspace", "The workspace"),
    ("where is the config file?", "Where the config"),
    ("what is the gateway", "The gateway"),
    ("how does it work with papermill", "Papermill"),
    ("the magic is not found", "The magic"),
    ("octo hangs what can I do", "A turn hangs"),
    ("how to fix a corrupt octo database", "The database"),
    ("my octo turn failed with 401", "Errors from"),
    ("what can the offline provider do", "What the offline"),
    ("what are the exit codes of octo run", "Options and exit"),
    ("what is a cassette?", "What a cassette"),
    ("how do I record a conversation", "Cassettes"),
]


async def test_questions_are_answered_with_the_passage_that_answers_them(tmp_path: Path) -> None:
    world = World(workspace=tmp_path)
    missed = []
    for question, title in QUESTIONS:
        answered = await ask(world, question)
        start = next(one.text for one in passages() if one.title.startswith(title))
        if not answered.text.startswith(" ".join(start.split())[:40]):
            missed.append(f"{question!r}: {answered.text[:60]!r}")
    assert len(missed) <= 0.15 * len(QUESTIONS), missed


async def test_an_answer_is_one_short_passage_with_its_page_at_the_end(tmp_path: Path) -> None:
    world = World(workspace=tmp_path)
    for question, _ in QUESTIONS:
        text = (await ask(world, question)).text
        assert len(text) < 900, question
        assert "###" not in text
        assert "\n\nFrom octo_lab's docs, page `" in text
