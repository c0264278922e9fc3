from __future__ import annotations

import json
from dataclasses import replace
from datetime import UTC, datetime

from hypothesis import given
from hypothesis import strategies as st

from octo_lab.core.frames import Json, patch_frame, turn_frame
from octo_lab.core.keys import ChatAddress
from octo_lab.core.mail import OutboundMessage
from octo_lab.core.messages import Media, Usage
from octo_lab.core.replies import (
    CommandInfo,
    CommandList,
    ControlReply,
    History,
    SessionInfo,
    SessionList,
    Told,
)
from octo_lab.core.turns import (
    Block,
    ErrorBlock,
    NoticeBlock,
    ReasoningBlock,
    TextBlock,
    ToolBlock,
    TurnSnapshot,
)
from octo_lab.core.wire import message_frame, reply_json
from octo_lab.web.decode import patched, read_message, read_reply, read_turn

TOOL = ToolBlock(
    call_id="c1",
    name="grep",
    arguments='{"pattern": "x"}',
    state="ok",
    output="a.py:1: x",
    seconds=0.2,
    media=(Media(mime="image/png", data=b"\x89PNG", name="plot.png"),),
)
TURN = TurnSnapshot(
    turn_id="t1",
    message_id="m1",
    session="default:web:main:d1",
    revision=3,
    state="running",
    prompt="Find x",
    blocks=(ReasoningBlock("hm"), TOOL, TextBlock("Found"), NoticeBlock("n"), ErrorBlock("e", "h")),
    usage=Usage(input_tokens=3, output_tokens=2, requests=1),
    model="test",
    started_at=datetime(2026, 1, 2, tzinfo=UTC),
)


def over_the_wire(data: Json) -> Json:
    received: Json = json.loads(json.dumps(data))
    return received


def test_a_turn_comes_back_as_it_was_sent() -> None:
    assert read_turn(over_the_wire(turn_frame(TURN))["turn"]) == TURN


texts = st.text(max_size=5)
block_lists = st.lists(
    st.one_of(
        st.builds(TextBlock, texts),
        st.builds(ReasoningBlock, texts),
        st.builds(NoticeBlock, texts),
        st.just(TOOL),
    ),
    max_size=4,
).map(tuple)


@given(before=block_lists, after=block_lists)
def test_a_patch_leads_from_any_snapshot_to_any_later_one(
    before: tuple[Block, ...], after: tuple[Block, ...]
) -> None:
    base = replace(TURN, blocks=before)
    turn = replace(TURN, blocks=after, revision=4, state="completed", seconds=1.5)
    assert patched(base, over_the_wire(patch_frame(base, turn))) == turn


def test_a_patch_for_another_revision_is_refused() -> None:
    turn = replace(TURN, revision=9)
    assert patched(TURN, over_the_wire(patch_frame(replace(TURN, revision=8), turn))) is None


def test_every_reply_comes_back_as_it_was_sent() -> None:
    session = SessionInfo(
        session="default:web:main:d1",
        title="T",
        current=True,
        archived=False,
        turns=2,
        updated_at=datetime(2026, 1, 2, tzinfo=UTC),
    )
    replies: list[ControlReply] = [
        Told(text="done", failed=True, hint="again"),
        SessionList(sessions=(session,)),
        History(session="s", title="T", turns=(TURN,)),
        CommandList(commands=(CommandInfo(name="new", usage="/new", summary="s"),)),
    ]
    assert [read_reply(over_the_wire(reply_json(reply))) for reply in replies] == replies


def test_a_message_comes_back_as_it_was_sent() -> None:
    address = ChatAddress(channel="web", chat_id="main")
    message = OutboundMessage(
        address=address,
        text="no",
        reply_to="m1",
        failed=True,
        hint="do this",
        media=(Media(mime="image/png", data=b"\x89PNG", name="duck.png"),),
        turn_id="t1",
    )
    assert read_message(over_the_wire(message_frame(message)), address) == message
