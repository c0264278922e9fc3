"""How a turn appears on the wire of a real kernel: one output, a live view, a static end."""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import Any

import pytest

from octo_lab.notebook.panels.widget import VIEW_MIME, is_built
from tests.notebook.kernels import PLAIN, Kernel, Ran, kernel

pytestmark = [pytest.mark.kernel, pytest.mark.timeout(120)]

built = pytest.mark.skipif(not is_built("turn"), reason="the front end is not built")

SETUP = """
import threading, time
from dataclasses import replace
from octo_lab.core.turns import TextBlock, ToolBlock, TurnSnapshot
from octo_lab.notebook.display import open_display

base = TurnSnapshot(turn_id="t", message_id="m", session="s", revision=0, state="running",
                    prompt="p", blocks=())
controls, waiting = [], threading.Event()

def control(asked):
    controls.append(asked)
    waiting.set()

def texts(count):
    for number in range(1, count + 1):
        text = "".join(f"word{n} " for n in range(number))
        state = "completed" if number == count else "running"
        yield replace(base, revision=number, state=state, blocks=(TextBlock(text),))

def show(turns, headless=False, wait=False):
    shown = open_display(base, headless=headless, on_control=control)
    def work():
        if wait:
            waiting.wait(20)
        for turn in turns:
            shown.finish(turn) if turn.terminal else shown.update(turn)
    thread = threading.Thread(target=work)
    thread.start()
    return thread
"""


@pytest.fixture(scope="module")
def plain(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Kernel]:
    with kernel(tmp_path_factory.mktemp("plain"), argv=PLAIN) as running:
        assert running.run(SETUP).status == "ok"
        yield running


def bundles(ran: Ran) -> list[dict[str, Any]]:
    return [o["content"]["data"] for o in ran.outputs if "data" in o["content"] and display(o)]


def display(output: dict[str, Any]) -> bool:
    return output["header"]["msg_type"] in ("display_data", "update_display_data")


def sent(ran: Ran) -> list[dict[str, Any]]:
    """The frames that went to the view."""
    data = [o["content"]["data"] for o in ran.of("comm_msg")]
    return [d["content"] for d in data if d.get("method") == "custom"]


def say(running: Kernel, comm_id: str, message: dict[str, Any]) -> None:
    content = {"comm_id": comm_id, "data": {"method": "custom", "content": message}}
    running.client.shell_channel.send(running.client.session.msg("comm_msg", content))


def test_headless_gives_one_final_output_and_no_widget(plain: Kernel) -> None:
    ran = plain.run("show(texts(50), headless=True).join()")
    [output] = ran.outputs
    assert output["header"]["msg_type"] == "display_data"
    assert set(output["content"]["data"]) == {"text/plain", "text/markdown", "text/html"}
    assert output["content"]["data"]["text/plain"].endswith("word49")


@built
def test_the_end_is_one_static_output_of_the_cell_that_asked(plain: Kernel) -> None:
    ran = plain.run("show(texts(50)).join()")
    first, *_, last = bundles(ran)
    ids = {o["content"]["transient"]["display_id"] for o in ran.outputs if display(o)}
    assert len(ids) == 1
    assert VIEW_MIME in first
    assert first["text/plain"] == "[Answering …]"
    assert set(last) == {"text/plain", "text/markdown", "text/html"}
    assert last["text/plain"].endswith("word49")
    assert sent(ran)[-1]["turn"]["state"] == "completed"


@built
def test_a_turn_that_ends_after_its_cell_stays_that_cell_s(plain: Kernel) -> None:
    waits = "def late():\n    time.sleep(0.4)\n    yield from texts(3)\nlater = show(late())"
    asked = plain.send(waits)
    plain.collect(asked)
    other = plain.send("later.join(); print('other cell')")
    parents, deadline = [], time.monotonic() + 20
    while time.monotonic() < deadline:
        message = plain.client.get_iopub_msg(timeout=10)
        if message["header"]["msg_type"] == "update_display_data":
            parents.append(message["parent_header"]["msg_id"])
        if message["parent_header"].get("msg_id") == other and _idle(message):
            break
    assert set(parents) == {asked}


def _idle(message: dict[str, Any]) -> bool:
    return bool(message["content"].get("execution_state") == "idle")


@built
def test_a_view_that_says_hello_gets_the_whole_and_then_only_what_changed(plain: Kernel) -> None:
    plain.run("controls.clear(); waiting.clear()")
    hello: list[str] = []

    def connect(output: dict[str, Any]) -> None:
        if output["header"]["msg_type"] == "comm_open" and "_esm" in str(output)[:3_000_000]:
            hello.append(output["content"]["comm_id"])
        if display(output) and len(hello) == 1:
            say(plain, hello[0], {"type": "hello"})
            stop = {"type": "control", "id": "1", "name": "stop", "args": {"turn_id": "t"}}
            say(plain, hello[0], stop)
            hello.append("said")

    code = (
        "import asyncio\n"
        "thread = show(texts(40), wait=True)\n"
        "while thread.is_alive():\n    await asyncio.sleep(0.02)\n"
        "controls"
    )
    ran = plain.run(code, on_output=connect)
    assert "Stop(turn_id='t'" in ran.value
    frames = [o["content"]["data"]["content"] for o in ran.of("comm_msg")]
    patches = [frame for frame in frames if frame["type"] == "patch"]
    assert len(patches) >= 39
    assert patches[-1]["ops"] == [["append", 0, "word39 "]]
    assert patches[-1]["state"] == "completed"


@built
def test_without_a_view_a_long_answer_is_redrawn_seldom(plain: Kernel) -> None:
    ran = plain.run("show(texts(2000)).join()")
    assert len(bundles(ran)) <= 2 + 5
    assert bundles(ran)[-1]["text/plain"].endswith("word1999")
