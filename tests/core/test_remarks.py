"""Remarks stand before the person's words and can be told from them."""

from __future__ import annotations

from octo_lab.core.remarks import person_has, without_remarks


def test_what_the_session_remarks_is_told_from_what_the_person_says() -> None:
    remarks = [person_has("taken back what was changed"), person_has("made again 'a]b.py'")]

    assert without_remarks("\n\n".join([*remarks, "go on\n[The person has]"])) == (
        "go on\n[The person has]"
    )
    assert without_remarks("[1] is it?") == "[1] is it?"
