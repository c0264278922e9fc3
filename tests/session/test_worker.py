from __future__ import annotations

import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import anyio
import anyio.to_thread
import pytest

from octo_lab.app import open_app
from octo_lab.core.mail import AskOptions, GetHistory, GetSessions, GetStatus, Stop
from octo_lab.core.replies import History, SessionList, Status, Told
from octo_lab.core.stream import Done, TextDelta
from octo_lab.core.turns import NoticeBlock, TurnSnapshot
from octo_lab.llm.provider import Events
from octo_lab.testing.channels import MemoryChannel
from octo_lab.testing.llm_script import Turn
from octo_lab.testing.llm_script import says as server_says
from octo_lab.testing.llm_server import LlmServer
from octo_lab.testing.providers import ScriptedProvider, says
from octo_lab.testing.setups import setup_in

pytestmark = pytest.mark.anyio


class Gated:
    """Answers each request only when the test opens the gate named by its last word."""

    name = model = "gated"

    def __init__(self) -> None:
        self.gates: dict[str, anyio.Event] = {}
        self.at_once = 0
        self.most = 0
        self.order: list[str] = []

    def gate(self, name: str) -> anyio.Event:
        return self.gates.setdefault(name, anyio.Event())

    async def stream(self, request: object) -> Events:
        text = request.messages[-1].content  # type: ignore[attr-defined]
        self.order.append(text)
        self.at_once += 1
        self.most = max(self.most, self.at_once)
        try:
            yield TextDelta(f"[{text}")
            await self.gate(text).wait()
            yield TextDelta("]")
            yield Done("end_turn")
        finally:
            self.at_once -= 1


async def turns(channel: MemoryChannel) -> list[TurnSnapshot]:
    history = await channel.control(GetHistory())
    assert isinstance(history, History)
    return list(history.turns)


NOTHING = Told(text="Nothing is running here.", failed=True)


def begun(turn: TurnSnapshot) -> bool:
    return bool(turn.text)


async def test_two_dialogs_run_side_by_side(tmp_path: Path) -> None:
    channel, provider = MemoryChannel(), Gated()
    async with open_app(setup_in(tmp_path, channel, provider=provider)):
        one = await channel.ask("one", AskOptions(session="one"))
        two = await channel.ask("two", AskOptions(session="two"))
        await channel.running(one, begun)
        await channel.running(two, begun)
        provider.gate("two").set()
        second = await channel.turn(two)
        first_running = not any(turn.message_id == one.id for turn in channel.finished)
        provider.gate("one").set()
        first = await channel.turn(one)

    assert (first.text, second.text, first_running) == ("[one]", "[two]", True)


async def test_a_session_answers_strictly_in_order(tmp_path: Path) -> None:
    channel, provider = MemoryChannel(), Gated()
    async with open_app(setup_in(tmp_path, channel, provider=provider)):
        asked = [await channel.ask(f"q{number}") for number in range(5)]
        for number in range(5):
            provider.gate(f"q{number}").set()
        for message in asked:
            await channel.turn(message)
        path = [turn.prompt for turn in await turns(channel)]

    assert provider.most == 1
    assert provider.order == path == [f"q{number}" for number in range(5)]


async def test_only_so_many_turns_run_at_once(tmp_path: Path) -> None:
    channel, provider = MemoryChannel(), Gated()
    setup = setup_in(tmp_path, channel, provider=provider, session={"workers": 2})
    async with open_app(setup):
        asked = [
            await channel.ask(f"q{number}", AskOptions(session=f"s{number}")) for number in range(6)
        ]
        for message in asked[:2]:
            await channel.running(message, begun)
        status = await channel.control(GetStatus())
        for number in range(6):
            provider.gate(f"q{number}").set()
        for message in asked:
            await channel.turn(message)

    assert isinstance(status, Status)
    assert (status.running, provider.most) == (2, 2)


async def test_a_full_queue_refuses_and_loses_nothing(tmp_path: Path) -> None:
    channel, provider = MemoryChannel(), Gated()
    setup = setup_in(tmp_path, channel, provider=provider, session={"queue": 2})
    async with open_app(setup):
        first = await channel.ask("q0")
        await channel.running(first, begun)
        waiting = [await channel.ask(f"q{number}") for number in (1, 2)]
        refused = await channel.message(await channel.ask("q3"))
        for number in range(3):
            provider.gate(f"q{number}").set()
        done = [await channel.turn(message) for message in (first, *waiting)]

    assert (refused.failed, refused.text) == (True, "2 messages already wait here")
    assert refused.hint
    assert [turn.text for turn in done] == ["[q0]", "[q1]", "[q2]"]


async def test_stop_drops_what_waits_before_the_running_turn(tmp_path: Path) -> None:
    channel, provider = MemoryChannel(), Gated()
    async with open_app(setup_in(tmp_path, channel, provider=provider)):
        first, second = await channel.ask("q0"), await channel.ask("q1")
        await channel.running(first, begun)
        await channel.ask("/stop")
        stopped = await channel.turn(first)
        dropped = await channel.message(second)
        path = await turns(channel)

    assert (stopped.state, stopped.text) == ("cancelled", "[q0")
    assert dropped.text == "Stopped before it began."
    assert [(turn.prompt, turn.state) for turn in path] == [("q0", "cancelled")]
    assert provider.order == ["q0"]


async def test_one_message_can_be_stopped_even_before_it_arrives(tmp_path: Path) -> None:
    channel, provider = MemoryChannel(), Gated()
    async with open_app(setup_in(tmp_path, channel, provider=provider)):
        first, second = await channel.ask("q0"), await channel.ask("q1")
        await channel.running(first, begun)
        await channel.control(Stop(message_id=second.id))
        dropped = await channel.message(second)
        provider.gate("q0").set()
        finished = await channel.turn(first)

    assert (dropped.text, finished.state) == ("Stopped before it began.", "completed")


async def test_a_turn_can_be_stopped_only_from_its_own_chat(tmp_path: Path) -> None:
    channel, provider = MemoryChannel(), Gated()
    async with open_app(setup_in(tmp_path, channel, provider=provider)):
        asked = await channel.ask("q0")
        running = await channel.running(asked, begun)
        for stop in (Stop(turn_id=running.turn_id), Stop(message_id=asked.id), Stop()):
            assert await channel.control(stop, chat_id="2") == NOTHING
        told = await channel.control(Stop(turn_id=running.turn_id))
        turn = await channel.turn(asked)

    assert (told, turn.state) == (Told(text="Stopped."), "cancelled")


async def test_closing_interrupts_what_runs_keeps_it_and_says_so(tmp_path: Path) -> None:
    channel, provider = MemoryChannel(), Gated()
    async with open_app(setup_in(tmp_path, channel, provider=provider)):
        first, second = await channel.ask("q0"), await channel.ask("q1")
        await channel.running(first, begun)
    again = MemoryChannel()
    async with open_app(setup_in(tmp_path, again, provider=provider)):
        path = await turns(again)

    [shown] = channel.finished
    assert (shown.message_id, shown.state, shown.text) == (first.id, "interrupted", "[q0")
    assert [(turn.state, turn.text) for turn in path] == [("interrupted", "[q0")]
    assert [(m.reply_to, m.failed) for m in channel.sent] == [(second.id, True)]


async def test_a_runtime_cancelled_from_outside_keeps_the_partial_answer(tmp_path: Path) -> None:
    channel, provider = MemoryChannel(), Gated()

    async def live() -> None:
        async with open_app(setup_in(tmp_path, channel, provider=provider)):
            await anyio.sleep_forever()

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(live)
        await channel.running(await channel.ask("q0"), begun)
        tasks.cancel_scope.cancel()
    again = MemoryChannel()
    async with open_app(setup_in(tmp_path, again, provider=ScriptedProvider(says("on")))):
        path = await turns(again)
        after = await again.turn(await again.ask("go on"))

    assert [(turn.state, turn.text) for turn in path] == [("interrupted", "[q0")]
    assert (after.state, after.text) == ("completed", "on")


async def test_two_runtimes_on_one_folder_keep_out_of_each_others_session(
    tmp_path: Path,
) -> None:
    first, second = MemoryChannel(), MemoryChannel()
    one, two = Gated(), Gated()
    async with (
        open_app(setup_in(tmp_path, first, provider=one)),
        open_app(setup_in(tmp_path, second, provider=two)),
    ):
        asked = await first.ask("q0")
        await first.running(asked, begun)
        busy = await second.message(await second.ask("mine"))
        one.gate("q0").set()
        two.gate("mine").set()
        done = await first.turn(asked)
        free = await second.turn(await second.ask("mine"))
        path = [(turn.prompt, turn.text) for turn in await turns(first)]

    assert busy.failed
    assert "busy in kernel" in busy.text
    assert "/new" in busy.hint
    assert (done.text, free.text) == ("[q0]", "[mine]")
    assert path == [("q0", "[q0]"), ("mine", "[mine]")]


CRASHING = """
import sys
from pathlib import Path
import anyio
from octo_lab.app import open_app
from octo_lab.testing.channels import MemoryChannel
from octo_lab.testing.setups import setup_in

async def main() -> None:
    channel = MemoryChannel()
    async with open_app(setup_in(Path(sys.argv[1]), channel, base_url=sys.argv[2])):
        await channel.ask("tell me")
        print("asked", flush=True)
        await anyio.sleep_forever()

anyio.run(main)
"""


SO_FAR = {"choices": [{"index": 0, "delta": {"content": "so far"}}]}
UNFINISHED = Turn(events=[SO_FAR], done=False, hang=True)


@pytest.fixture
def server() -> Iterator[LlmServer]:
    with LlmServer(UNFINISHED, server_says("on")) as server:
        yield server


async def test_a_killed_process_leaves_an_interrupted_turn_with_its_partial(
    tmp_path: Path, server: LlmServer
) -> None:
    await anyio.to_thread.run_sync(_killed_while_answering, tmp_path, server)
    channel = MemoryChannel()
    async with open_app(setup_in(tmp_path, channel, base_url=server.base_url)):
        path = await turns(channel)
        after = await channel.turn(await channel.ask("go on"))
        listed = await channel.control(GetSessions())

    assert [(turn.prompt, turn.state, turn.text) for turn in path] == [
        ("tell me", "interrupted", "so far")
    ]
    assert (after.state, after.text) == ("completed", "on")
    assert isinstance(listed, SessionList)
    assert [(info.title, info.turns, info.busy) for info in listed.sessions] == [
        ("tell me", 2, False)
    ]
    assert server.refused == []


def _killed_while_answering(folder: Path, server: LlmServer) -> None:
    process = subprocess.Popen(
        [sys.executable, "-c", CRASHING, str(folder), server.base_url], stdout=subprocess.PIPE
    )
    assert process.stdout is not None
    with process.stdout:
        assert process.stdout.readline() == b"asked\n"
        assert server.wait_until(lambda: bool(server.requests))
        assert not server.wait_until(lambda: bool(server.disconnects), timeout=2.5)
        process.send_signal(signal.SIGKILL)
        process.wait(timeout=10)


async def test_a_tool_that_does_not_exist_is_named_in_the_turn(tmp_path: Path) -> None:
    channel = MemoryChannel()
    setup = setup_in(tmp_path, channel, provider=ScriptedProvider(says("hi")))
    async with open_app(setup):
        asked = await channel.ask("hello", options=AskOptions(tools=("gerp",)))
        turn = await channel.turn(asked)

    assert NoticeBlock("No tool fits 'gerp' (did you mean 'grep'?).") in turn.blocks
