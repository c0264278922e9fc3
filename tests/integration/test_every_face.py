"""Every face is served by the same session worker and turn controller, and by nothing else."""

from __future__ import annotations

import re
import signal
import sqlite3
from collections.abc import Iterator
from pathlib import Path

import anyio
import httpx
import pytest
from textual.pilot import Pilot

from octo_lab.cli.chat.app import ChatApp
from octo_lab.cli.outcome import Outcome
from octo_lab.core.mail import AskOptions
from octo_lab.testing.llm_server import LlmServer
from octo_lab.web.client import open_remote
from octo_lab.web.endpoint import Endpoint
from tests.cli.octo import Octo
from tests.gateway.running import Running, gateway, papermill_command
from tests.notebook.kernels import kernel

pytestmark = [pytest.mark.kernel, pytest.mark.timeout(180)]

PANEL = """
from octo_lab.core.mail import AskOptions
from octo_lab.notebook.panel_link import PanelLink
import asyncio
link, heard = PanelLink(get_ipython().octo.face.runtime()), []
end = link.listen(heard.append)
link.ask("from the panel", AskOptions(), message_id="m1")
while not any(getattr(turn, "terminal", False) for turn in heard): await asyncio.sleep(0.05)
"""


@pytest.fixture
def no_blocking_calls() -> None:
    """Not here: the faces under test run in other processes, and Textual reads files."""


@pytest.fixture
def running(tmp_path: Path) -> Iterator[Running]:
    with LlmServer() as server:
        octo = Octo(folder=tmp_path).with_model(server)
        with gateway(octo, papermill_command(octo, "-p", "port", "0")) as started:
            yield started


def test_one_worker_serves_every_face(running: Running) -> None:
    octo = running.octo
    with kernel(octo.workspace, octo.environ()) as notebook:
        notebook.run("%octo from a cell")
        notebook.run(PANEL)
    octo("run", "from octo run")
    ask_over_http(running.endpoint, "from http")
    anyio.run(chat, running.endpoint, "from octo chat")
    running.stop(signal.SIGTERM)
    octo("run", "from octo run alone")

    turns = stored(octo)
    assert {prompt: (channel, state) for channel, prompt, state, _ in turns} == {
        "from a cell": ("notebook", "completed"),
        "from the panel": ("notebook", "completed"),
        "from octo run": ("web", "completed"),
        "from http": ("web", "completed"),
        "from octo chat": ("web", "completed"),
        "from octo run alone": ("terminal", "completed"),
    }
    assert served(octo) == {turn: channel for channel, _, _, turn in turns}


def ask_over_http(endpoint: Endpoint, text: str) -> None:
    reply = httpx.post(
        f"http://{endpoint.authority}/api/chat",
        headers={"Authorization": f"Bearer {endpoint.token}"},
        json={"message": text},
        timeout=30,
    )
    assert reply.status_code == 200


async def chat(endpoint: Endpoint, text: str) -> None:
    app = ChatApp(lambda: open_remote(endpoint, "main"), AskOptions())
    async with app.run_test(size=(100, 40)) as pilot:
        await until_shown(pilot, "gateway")
        await pilot.press(*("space" if letter == " " else letter for letter in text), "enter")
        await until_shown(pilot, f"echo: {text}")


async def until_shown(pilot: Pilot[Outcome], text: str) -> None:
    with anyio.fail_after(30):
        while text not in pilot.app.export_screenshot().replace("&#160;", " "):
            await pilot.pause(0.1)


def stored(octo: Octo) -> list[tuple[str, str, str, str]]:
    query = (
        "SELECT s.channel, t.prompt, t.state, t.id FROM turns t JOIN sessions s"
        " ON s.id = t.session_id ORDER BY t.id"
    )
    with sqlite3.connect(octo.data / "octo_lab.db") as db:
        rows = db.execute(query).fetchall()
    db.close()
    return rows


def served(octo: Octo) -> dict[str, str]:
    """What the session workers' log says: the turn, and the channel it was answered for."""
    log = (octo.data / "octo_lab.log").read_text(encoding="utf-8")
    found = re.findall(r"octo_lab\.session\.working: turn (\S+) answers a message of (\w+)", log)
    return dict(found)
