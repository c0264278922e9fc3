from __future__ import annotations

from pathlib import Path

import pytest

from octo_lab.app import open_app
from octo_lab.core.mail import AskOptions, GetHistory
from octo_lab.core.replies import History
from octo_lab.core.turns import ToolBlock
from octo_lab.testing.channels import MemoryChannel
from octo_lab.testing.providers import ScriptedProvider, says
from octo_lab.testing.setups import setup_in
from tests.session.undoing import RUNS, Chat, edits, patches, turn, writes

pytestmark = pytest.mark.anyio

ELSEWHERE = "`/sessions` lists the other sessions, `/switch NAME` goes to one"


@pytest.fixture
def chat(tmp_path: Path) -> Chat:
    (tmp_path / "a.txt").write_bytes(b"one\r\ntwo\r\n")
    (tmp_path / "a.txt").chmod(0o640)
    (tmp_path / "old.sh").write_bytes(b"#!/bin/sh\n")
    (tmp_path / "old.sh").chmod(0o755)
    return Chat(tmp_path)


EDIT = (
    edits("a.txt", "two", "three"),
    edits("a.txt", "one", "zero"),
    writes("new/deep/b.txt", "b"),
    writes("new/deep/c.txt", "c"),
    patches("old.sh", "--- a/old.sh\n+++ /dev/null\n@@ -1 +0,0 @@\n-#!/bin/sh\n"),
)


async def test_a_turn_is_taken_back_byte_for_byte_and_made_again(chat: Chat) -> None:
    before = await chat.tree()
    await chat.run(EDIT)
    after = await chat.tree()
    assert after["a.txt"] == (b"zero\r\nthree\r\n", 0o640)
    assert "old.sh" not in after

    said = await chat.run(lines=("/undo",))  # another process, as far as it can tell

    assert said == [
        "Taken back:\n- made 'old.sh'\n- removed 'new/deep/c.txt'\n- removed 'new/deep/b.txt'\n"
        "- restored 'a.txt'"
    ]
    assert await chat.tree() == before
    assert await chat.run(lines=("/redo", "/redo")) == [
        "Made again:\n- restored 'a.txt'\n- made 'new/deep/b.txt'\n- made 'new/deep/c.txt'\n"
        "- removed 'old.sh'",
        f"failed: Nothing was taken back here ({ELSEWHERE})",
    ]
    assert await chat.tree() == after


async def test_the_next_question_tells_the_model_what_was_taken_back(chat: Chat) -> None:
    channel = MemoryChannel("notebook")
    provider = ScriptedProvider(*turn(*EDIT[:3]), says("I see."), says("Again."))
    async with open_app(setup_in(chat.folder, channel, provider=provider)):
        await channel.turn(await channel.ask("go", AskOptions(headless=True)))
        for line in ("/undo", "/redo", "/undo"):
            await channel.message(await channel.ask(line))
        shown = await channel.turn(await channel.ask("what now?"))
        await channel.turn(await channel.ask("and now?"))

    remark = (
        "[The person has taken back what was changed in files here: removed 'new/deep/b.txt'; "
        "restored 'a.txt'.]"
    )
    again = remark.replace("taken back", "made again").replace(
        "removed 'new/deep/b.txt'; restored 'a.txt'", "restored 'a.txt'; made 'new/deep/b.txt'"
    )
    asked = [
        message.content for message in provider.requests[-1].messages if message.role == "user"
    ]
    assert asked == ["go", f"{remark}\n{again}\n{remark}\n\nwhat now?", "and now?"]
    assert provider.requests[-2].messages[-1].content == asked[1]
    assert shown.prompt == "what now?"


async def test_the_offline_model_answers_the_question_after_an_undo(chat: Chat) -> None:
    channel = MemoryChannel("notebook")
    async with open_app(setup_in(chat.folder, channel)):
        made = await channel.turn(await channel.ask('write `new.txt` with content "x"'))
        for line in ("/undo", "/redo", "/undo"):
            await channel.message(await channel.ask(line))
        shown = await channel.turn(await channel.ask("what time is it in Tokyo?"))

    assert made.text.endswith("gives `Made 'new.txt': 1 line, 1 byte.`")
    assert [block.name for block in shown.blocks if isinstance(block, ToolBlock)] == ["get_time"]


async def test_turns_are_taken_back_one_by_one_or_several_at_once(chat: Chat) -> None:
    before = await chat.tree()
    turns = tuple((edits("a.txt", *pair),) for pair in (("two", "2"), ("one", "1"), ("2", "II")))
    said = await chat.run(*turns, lines=("/undo", "/undo 2", "/undo"))
    assert said == [
        "Taken back:\n- restored 'a.txt'",
        "Taken back:\n- restored 'a.txt'",
        f"failed: No turn here changed files that can be restored ({ELSEWHERE})",
    ]
    assert await chat.tree() == before
    await chat.run(lines=("/redo", "/redo", "/redo"))
    assert (await chat.tree())["a.txt"] == (b"1\r\nII\r\n", 0o640)


async def test_a_file_changed_since_is_not_overwritten_unasked(chat: Chat) -> None:
    await chat.run(EDIT)
    await chat.do(lambda folder: (folder / "a.txt").write_bytes(b"mine"))
    mine = await chat.tree()
    said = await chat.run(lines=("/undo",))
    assert said == [
        "failed: Nothing was changed: 'a.txt' was changed since "
        "(`/undo force` overwrites what is there now)"
    ]
    assert await chat.tree() == mine
    await chat.run(lines=("/undo force",))
    assert (await chat.tree())["a.txt"] == (b"one\r\ntwo\r\n", 0o640)


async def test_a_file_that_became_something_else_is_left(chat: Chat) -> None:
    await chat.run((edits("a.txt", "two", "2"),))

    def swap(folder: Path) -> None:
        (folder / "a.txt").unlink()
        (folder / "a.txt").symlink_to("/etc/passwd")

    await chat.do(swap)
    said = await chat.run(lines=("/undo", "/undo force"))
    assert said == [
        "failed: Nothing was changed: 'a.txt' was changed since "
        "(`/undo force` overwrites what is there now)",
        "failed: Failed:\n- 'a.txt' is a symbolic link (links are not followed)",
    ]


async def test_what_nobody_saw_is_named(chat: Chat) -> None:
    said = await chat.run(
        (RUNS, RUNS), (edits("a.txt", "two", "2"), RUNS), (RUNS,), lines=("/undo", "/undo")
    )
    unseen = "What these changed cannot be undone: `shell: make all`"
    assert said == [f"Taken back:\n- restored 'a.txt'\n\n{unseen}", f"failed: {unseen}"]


async def test_a_change_between_two_of_a_turn_is_seen(chat: Chat) -> None:
    """Somebody wrote to the file while the turn ran."""
    await chat.run((edits("a.txt", "two", "2"),))
    await chat.do(lambda folder: (folder / "a.txt").write_bytes(b"mine"))
    await chat.run((edits("a.txt", "mine", "yours"),))
    assert await chat.run(lines=("/undo 2",)) == [
        "failed: Nothing was changed: 'a.txt' was changed since "
        "(`/undo 2 force` overwrites what is there now)"
    ]
    assert await chat.run(lines=("/undo",)) == ["Taken back:\n- restored 'a.txt'"]
    assert (await chat.tree())["a.txt"] == (b"mine", 0o640)


@pytest.mark.parametrize("line", ["/undo x", "/undo 0", "/undo 1 2", "/undo -1"])
async def test_what_is_no_number_of_turns_is_refused(chat: Chat, line: str) -> None:
    (said,) = await chat.run(lines=(line,))
    assert said.endswith("is no number of turns (for example `/undo 2`)")


async def test_a_chat_without_changes_says_so(chat: Chat) -> None:
    assert await chat.run(lines=("/undo", "/redo")) == [
        f"failed: No turn here changed files that can be restored ({ELSEWHERE})",
        f"failed: Nothing was taken back here ({ELSEWHERE})",
    ]


async def test_the_diff_of_a_call_is_shown_and_kept(chat: Chat) -> None:
    diff = "--- a/a.txt\n+++ b/a.txt\n@@ -1,2 +1,2 @@\n one\n-two\n+2\n"
    channel = MemoryChannel("notebook")
    async with open_app(chat.setup(channel, turn(edits("a.txt", "two", "2"), RUNS))):
        shown = await channel.turn(await channel.ask("go", AskOptions(headless=True)))
        stored = await channel.control(GetHistory())
    assert isinstance(stored, History)
    for snapshot in (shown, stored.turns[0]):
        assert [b.diff for b in snapshot.blocks if isinstance(b, ToolBlock)] == [diff, ""]
