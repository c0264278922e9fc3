from __future__ import annotations

from dataclasses import replace
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from octo_lab.core.frames import patch_frame, turn_frame, turn_json
from octo_lab.core.turns import (
    Block,
    ErrorBlock,
    NoticeBlock,
    ReasoningBlock,
    TextBlock,
    ToolBlock,
    TurnSnapshot,
)

TURN = TurnSnapshot(
    turn_id="t", message_id="m", session="s", revision=1, state="running", prompt="hi"
)
TEXT = st.text(max_size=8)
BLOCKS: st.SearchStrategy[Block] = st.one_of(
    TEXT.map(TextBlock),
    TEXT.map(ReasoningBlock),
    TEXT.map(NoticeBlock),
    st.builds(ErrorBlock, TEXT, TEXT),
    st.builds(ToolBlock, call_id=TEXT, name=TEXT, arguments=TEXT, state=st.just("running")),
)


def patched(turn: dict[str, Any], patch: dict[str, Any]) -> dict[str, Any]:
    """What a face does with a patch."""
    blocks = list(turn["blocks"])
    for name, *args in patch["ops"]:
        if name == "cut":
            del blocks[args[0] :]
        elif name == "append":
            blocks[args[0]] = {**blocks[args[0]], "text": blocks[args[0]]["text"] + args[1]}
        else:
            blocks[args[0] : args[0] + 1] = [args[1]]
    head = {key: patch[key] for key in ("revision", "state", "model", "usage", "seconds")}
    return {**turn, **head, "blocks": blocks}


@given(st.lists(BLOCKS, max_size=5), st.lists(BLOCKS, max_size=5))
def test_the_old_turn_and_the_patch_give_the_new_turn(old: list[Block], new: list[Block]) -> None:
    before = replace(TURN, blocks=tuple(old))
    after = replace(TURN, blocks=tuple(new), revision=2, state="completed")

    assert patched(turn_json(before), patch_frame(before, after)) == turn_json(after)


def test_more_text_costs_only_the_new_text() -> None:
    kept = TextBlock("x" * 10_000)
    before = replace(TURN, blocks=(kept, TextBlock("y" * 10_000)))
    after = replace(before, blocks=(kept, TextBlock("y" * 10_000 + "z")), revision=2)

    assert patch_frame(before, after)["ops"] == [["append", 1, "z"]]


def test_a_whole_frame_names_its_turn() -> None:
    frame = turn_frame(TURN)

    assert frame["type"] == "turn"
    assert frame["turn"]["turn_id"] == "t"
    assert frame["turn"]["blocks"] == []
