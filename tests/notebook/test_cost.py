"""What the words of ``%octo`` and a Turn say of cost."""

from __future__ import annotations

from concurrent.futures import Future
from dataclasses import replace

import pytest

from octo_lab.core.messages import Usage
from octo_lab.core.replies import Status
from octo_lab.core.turns import TurnSnapshot
from octo_lab.notebook.cards import status_rows
from octo_lab.notebook.render import render_turn
from octo_lab.notebook.render_stable import stable_turn
from octo_lab.notebook.turn import Answered, Turn

USAGE = Usage(input_tokens=1000, output_tokens=50, requests=2, cost=0.0042, priced=2)
TURN = TurnSnapshot(
    turn_id="t",
    message_id="m",
    session="s",
    revision=1,
    state="completed",
    prompt="hi",
    usage=USAGE,
    model="openai/gpt-4o",
)
STATUS = Status(
    session="s",
    title="t",
    model="gpt-4o",
    provider="openai",
    provider_note="",
    context_tokens=10,
    context_window=100,
    usage=USAGE,
    tools=(),
    channels=(),
    workspace="w",
    data_folder="d",
    running=0,
    prices="2025-12-01",
)


def turn(snapshot: TurnSnapshot) -> Turn:
    done: Future[Answered] = Future()
    done.set_result(snapshot)
    return Turn("hi", done)


def test_a_turn_has_a_cost_when_each_of_its_requests_has_a_price() -> None:
    assert turn(TURN).cost == 0.0042
    partly = turn(replace(TURN, usage=replace(USAGE, priced=1)))
    assert (partly.cost, partly.usage.cost) == (None, 0.0042)
    assert turn(replace(TURN, usage=Usage())).cost is None


@pytest.mark.parametrize(
    ("usage", "prices", "rows"),
    [
        (Usage(), "2025-12-01", []),
        (USAGE, "2025-12-01", ["$0.0042 (list prices of 2025-12-01)"]),
        (USAGE, "", ["$0.0042"]),
        (replace(USAGE, priced=1), "", ["at least $0.0042"]),
        (
            replace(USAGE, cost=0.0, priced=0),
            "2025-12-01",
            ["unknown: no price is known of this model"],
        ),
    ],
)
def test_the_status_shows_what_is_known_of_a_cost(
    usage: Usage, prices: str, rows: list[str]
) -> None:
    status = replace(STATUS, usage=usage, prices=prices)
    assert [value for name, value in status_rows(status, "none") if name == "cost"] == rows


def test_a_turn_made_stable_shows_no_cost() -> None:
    assert "$0.0042" in render_turn(TURN)["text/html"]
    assert "$" not in render_turn(stable_turn(TURN, ()))["text/plain"]
