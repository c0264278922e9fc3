"""A kernel killed at any instant of a turn loses no committed turn and leaves no half one."""

from __future__ import annotations

import os
import signal
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import anyio
import pytest

from octo_lab.core.keys import ChatAddress
from octo_lab.storage.database import open_database
from octo_lab.storage.sessions import list_sessions
from octo_lab.storage.turns import TurnRecord, load_turns
from octo_lab.testing.llm_script import Turn, call, calls, last_text, says
from octo_lab.testing.llm_server import LlmServer
from tests.notebook.kernels import Kernel, kernel, with_model

pytestmark = [pytest.mark.kernel, pytest.mark.timeout(400)]

KILLS = 52
LANES = 2
SECONDS = 2.2  # a little more than the turn takes
FIRST = "I look at the folder and compute. "
SECOND = [f"word{n} " for n in range(30)]
WHOLE = "".join(SECOND)


def model_turn(request: dict[str, Any]) -> Turn:
    """Text and two calls, then a longer text; a plain greeting is answered plainly."""
    if request["messages"][-1]["role"] == "tool":
        return says(*SECOND, delay=0.04)
    if "hello" in last_text(request):
        return says("hello")
    made = (call("python", code="6 * 7", id="one"), call("list_dir", path=".", id="two"))
    return calls(*made, text=[f"{word} " for word in FIRST.split()], delay=0.03)


def stored(folder: Path) -> list[TurnRecord]:
    """Every turn of the one notebook, as the database has it."""

    async def read() -> list[TurnRecord]:
        address = ChatAddress(channel="notebook", chat_id="my.ipynb")
        async with open_database(folder / "data" / "octo_lab.db") as database:
            sessions = await database.read(lambda db: list_sessions(db, address))
            return await database.read(
                lambda db: load_turns(db, sessions[0].id, context_only=False)
            )

    return anyio.run(read)


def kill_during(octo: Kernel, after: float) -> bool:
    """Start a turn and kill the kernel; whether the cell had ended before."""
    sent = octo.send("%octo -t python -t list_dir -- go")
    time.sleep(after)
    ended = True
    try:
        octo.collect(sent, wait=0.01)
    except TimeoutError:
        ended = False
    os.kill(octo.pid, signal.SIGKILL)
    return ended


def check(turns: list[TurnRecord]) -> None:
    for record in turns:
        calls_made = [c.id for m in record.messages for c in m.tool_calls]
        answered = [m.tool_call_id for m in record.messages if m.role == "tool"]
        assert calls_made == answered
        assert record.messages[0].role == "user"
        text = record.messages[-1].content
        if record.turn.state == "completed":
            assert text in (WHOLE, "hello")
        else:
            assert record.turn.state == "interrupted"
            last = record.messages[-1]
            whole = WHOLE if calls_made else FIRST
            assert last.role != "assistant" or whole.startswith(text)


def lane(folder: Path, instants: list[float]) -> list[str]:
    """Kill, restart and look, once for each instant; the states of all turns at the end."""
    states: list[str] = []
    with LlmServer(then=model_turn) as model:
        environ = with_model(
            model, JPY_SESSION_NAME=str(folder / "my.ipynb"), OCTO_WORKSPACE=str(folder)
        )
        for instant in instants:
            with kernel(folder, environ) as octo:
                octo.run("%octo status")
                before = stored(folder) if states else []
                assert [r.turn.state for r in before] == states
                check(before)
                ended = kill_during(octo, instant)
            after = stored(folder)
            assert [r.messages for r in after[: len(before)]] == [r.messages for r in before]
            assert not ended or after[-1].turn.state == "completed"
            states = [*states, *_new_states(after[len(before) :])]
        with kernel(folder, environ) as octo:
            assert "hello" in octo.run("%octo hello").value
        check(stored(folder))
        assert model.refused == []
    return [r.turn.state for r in stored(folder)]


def _new_states(records: list[TurnRecord]) -> list[str]:
    """What a new turn will be called once the next kernel has looked after it."""
    return ["interrupted" if r.turn.state == "running" else r.turn.state for r in records]


def test_killed_kernels_lose_no_turn_and_leave_no_half_one(tmp_path: Path) -> None:
    instants = [SECONDS * n / KILLS for n in range(KILLS)]
    with ThreadPoolExecutor(LANES) as pool:
        folders = [tmp_path / str(n) for n in range(LANES)]
        for folder in folders:
            folder.mkdir()
        parts = [instants[n::LANES] for n in range(LANES)]
        states = [s for found in pool.map(lane, folders, parts) for s in found]
    assert states.count("interrupted") >= KILLS // 2
    assert "completed" in states
