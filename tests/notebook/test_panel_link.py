from __future__ import annotations

import time

import pytest

from octo_lab.testing.llm_script import call, calls, says
from octo_lab.testing.llm_server import LlmServer
from tests.notebook.kernels import Kernel

pytestmark = pytest.mark.kernel

LINK = (
    "from octo_lab.core.mail import AskOptions, GetSessions, Stop\n"
    "from octo_lab.core.errors import OctoError\n"
    "from octo_lab.notebook.panel_link import PanelLink\n"
    "runtime = get_ipython().octo.face.runtime()\n"
    "link = PanelLink(runtime)\n"
    "heard, replies = [], []\n"
    "end = link.listen(heard.append)\n"
    "def last(): return next(t for t in reversed(heard) if hasattr(t, 'state'))\n"
)


@pytest.fixture(scope="module", autouse=True)
def linked(octo: Kernel) -> None:
    assert octo.run(LINK).status == "ok"


def test_a_panel_hears_its_turns_and_those_of_cells(octo: Kernel, model: LlmServer) -> None:
    octo.run("link.ask('from the panel', AskOptions(), message_id='m1')")
    octo.run("%octo from a cell")
    told = octo.run(
        "import asyncio\n"
        "await asyncio.sleep(0.5)\n"
        "[(t.prompt, t.text) for t in heard if t.terminal]"
    )
    assert eval(told.value) == [
        ("from the panel", "echo: from the panel"),
        ("from a cell", "echo: from a cell"),
    ]


def test_a_panels_turn_computes_while_the_kernel_is_idle(octo: Kernel, model: LlmServer) -> None:
    model.script(calls(call("python", code="panel = 6 * 7\npanel")), says("done"))
    asked = len(model.requests)
    octo.run(
        "options = AskOptions(tools=('python',), headless=True)\n"
        "link.ask('compute', options, message_id='m2')"
    )
    assert model.wait_until(lambda: len(model.requests) >= asked + 2)
    tool = [m for m in model.requests[-1].body["messages"] if m["role"] == "tool"]
    assert tool[-1]["content"] == "42"
    assert octo.run("panel").value == "42"


def test_a_control_is_answered_from_another_thread(octo: Kernel) -> None:
    octo.run("link.control(GetSessions(), replies.append)")
    time.sleep(0.3)
    assert octo.run("type(replies[-1]).__name__").value == "'SessionList'"


def test_stop_from_a_panel_stops_its_turn(octo: Kernel, model: LlmServer) -> None:
    model.script(says(*["word "] * 500, delay=0.05))
    left = len(model.disconnects)
    octo.run("link.ask('tell', AskOptions(), message_id='m3')")
    time.sleep(0.5)
    octo.run("link.control(Stop(), replies.append)")
    assert model.wait_until(lambda: len(model.disconnects) > left, timeout=5)
    time.sleep(0.3)
    assert octo.run("last().state").value == "'cancelled'"


def test_what_ends_listening_ends_it(octo: Kernel) -> None:
    octo.run("end()\nbefore = len(heard)")
    octo.run("%octo not heard")
    assert octo.run("len(heard) - before").value == "0"
