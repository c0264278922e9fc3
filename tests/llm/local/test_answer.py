from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from octo_lab.core.messages import ToolCall
from octo_lab.core.text import clean
from octo_lab.llm.local.answer import AnswerText, Ending

WORDS = st.text(alphabet=st.characters(), max_size=40)


def read(pieces: list[str]) -> tuple[str, Ending]:
    reader = AnswerText()
    text = "".join(map(reader.feed, pieces))
    ending = reader.close()
    call = replace(ending.call, id="") if ending.call else None
    return text + ending.text, replace(ending, call=call, text="")


def split(text: str, sizes: list[int]) -> list[str]:
    pieces = []
    for size in sizes:
        pieces.append(text[:size])
        text = text[size:]
    return [*pieces, text]


SIZES = st.lists(st.integers(0, 7), max_size=60)


@given(words=WORDS, ascii=st.booleans(), indent=st.sampled_from([None, 1]), sizes=SIZES)
def test_an_answer_is_told_whole_however_it_is_cut(
    words: str, ascii: bool, indent: int | None, sizes: list[int]
) -> None:
    raw = json.dumps({"answer": words}, ensure_ascii=ascii, indent=indent)

    assert read(split(raw, sizes)) == (clean(words), Ending())


@given(arguments=st.dictionaries(WORDS, WORDS | st.integers(), max_size=3), sizes=SIZES)
def test_a_call_is_told_when_it_is_whole(arguments: dict[str, Any], sizes: list[int]) -> None:
    raw = json.dumps({"tool": "grep", "arguments": arguments})
    call = ToolCall(id="", name="grep", arguments=json.dumps(arguments, ensure_ascii=False))

    assert read(split(raw, sizes)) == ("", Ending(call=call))


def test_an_answers_text_is_told_while_it_comes() -> None:
    reader = AnswerText()
    pieces = ['{ "ans', 'wer" : "Pa', "ris", r" \ud83d", r"\ude00 \u00e", 'f"', " }"]

    assert [reader.feed(one) for one in pieces] == ["", "Pa", "ris", " ", "😀 ", "ï", ""]


def test_what_the_limit_cut_off_is_no_call_and_not_whole() -> None:
    assert read(['{"tool": "grep", "argum']) == ("", Ending(whole=False))
    assert read(['{"answer": "Par']) == ("Par", Ending(whole=False))
    assert read([""]) == ("", Ending(whole=False))


def test_an_answer_in_a_schema_is_told_as_json() -> None:
    assert read(['{"answer": {"city": "Bonn"}}']) == ('{"city": "Bonn"}', Ending())
    assert read(['{"other": 1}']) == ('{"other": 1}', Ending())
    assert read(["[1]"]) == ("[1]", Ending())
