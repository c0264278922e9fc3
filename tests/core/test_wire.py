from __future__ import annotations

from datetime import UTC, datetime

import pytest

from octo_lab.core.errors import UsageError
from octo_lab.core.keys import ChatAddress
from octo_lab.core.mail import (
    AnswerProposal,
    AskOptions,
    Control,
    EditSession,
    GetCommands,
    GetHistory,
    GetSessions,
    GetStatus,
    OutboundMessage,
    RunCommand,
    Settle,
    Stop,
    UseCassette,
)
from octo_lab.core.replies import History, SessionInfo, SessionList, Told
from octo_lab.core.turns import TurnSnapshot
from octo_lab.core.wire import (
    control_json,
    decode_control,
    decode_options,
    message_frame,
    reply_json,
)

CONTROLS: list[Control] = [
    Stop(turn_id="t"),
    Settle(approval_id="a", decision="session"),
    AnswerProposal(call_id="c", answer="inserted", code="x = 1"),
    RunCommand(line="/new x"),
    GetSessions(query="q", limit=3),
    GetHistory(session="s"),
    GetStatus(),
    GetCommands(),
    EditSession(session="s", title="t"),
    UseCassette(mode="replay", path="p"),
]


@pytest.mark.parametrize("control", CONTROLS, ids=lambda c: type(c).__name__)
def test_each_control_survives_json(control: Control) -> None:
    sent = control_json(control)

    assert decode_control(sent["name"], sent["args"]) == control


@pytest.mark.parametrize(
    ("name", "args", "message"),
    [
        ("fly", {}, "No control named 'fly'"),
        ("stop", {"speed": 1}, "'stop' takes no 'speed'"),
        ("settle", {"approval_id": "a", "decision": "maybe"}, "'settle': decision: Input should"),
        ("settle", {"decision": "once"}, "'settle': approval_id: Field required"),
    ],
)
def test_a_bad_control_is_refused_with_its_reason(
    name: str, args: dict[str, object], message: str
) -> None:
    with pytest.raises(UsageError, match=message):
        decode_control(name, args)


def test_options_of_an_ask_are_read_and_checked() -> None:
    assert decode_options({"tools": ["grep"], "timeout": 3, "stop": ["END"]}) == AskOptions(
        tools=("grep",), timeout=3.0, stop=("END",)
    )
    with pytest.raises(UsageError, match="'ask': temperature"):
        decode_options({"temperature": "warm"})


def test_replies_name_their_kind() -> None:
    turn = TurnSnapshot(
        turn_id="t", message_id="m", session="s", revision=1, state="completed", prompt="hi"
    )
    info = SessionInfo(
        session="s",
        title="T",
        current=True,
        archived=False,
        turns=1,
        updated_at=datetime(2026, 1, 1, tzinfo=UTC),
    )

    history = reply_json(History(session="s", title="T", turns=(turn,)))
    sessions = reply_json(SessionList(sessions=(info,)))

    assert reply_json(Told(text="x")) == {"kind": "told", "text": "x", "failed": False, "hint": ""}
    assert (history["kind"], history["turns"][0]["turn_id"]) == ("history", "t")
    assert (sessions["kind"], sessions["sessions"][0]["updated_at"]) == (
        "sessions",
        "2026-01-01T00:00:00Z",
    )


def test_a_message_frame_carries_what_a_face_shows() -> None:
    message = OutboundMessage(
        address=ChatAddress(channel="web", chat_id="c"), text="no", reply_to="m", failed=True
    )

    assert message_frame(message) == {
        "type": "message",
        "id": message.id,
        "text": "no",
        "reply_to": "m",
        "failed": True,
        "hint": "",
        "media": [],
        "turn_id": "",
    }
