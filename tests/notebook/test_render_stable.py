from __future__ import annotations

from octo_lab.core.turns import NoticeBlock, TextBlock, TurnSnapshot
from octo_lab.notebook.render_stable import stable_turn

FOLDERS = (("/data/work", "."), ("/data", "<data>"), ("/", "<root>"))


def shown(text: str) -> str:
    turn = TurnSnapshot(
        turn_id="t",
        message_id="m",
        session="s",
        revision=1,
        state="completed",
        prompt="",
        blocks=(NoticeBlock(text), TextBlock(text)),
    )
    stable, answer = stable_turn(turn, FOLDERS).blocks
    assert answer == TextBlock(text), "the model's own words stay as they are"
    assert isinstance(stable, NoticeBlock)
    return stable.text


def test_a_folder_is_named_only_where_its_whole_path_stands() -> None:
    assert shown("/data/work/a.csv and '/data/work'") == "./a.csv and '.'"
    assert shown("/data/work2/b, /data/x") == "<data>/work2/b, <data>/x"
    assert shown("a/b /database") == "a/b /database"


def test_addresses_of_objects_are_left_out_and_short_numbers_are_not() -> None:
    assert shown("<f at 0x7f52be1280> 0xff") == "<f at 0x…> 0xff"
