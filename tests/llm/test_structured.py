from __future__ import annotations

import contextlib
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel

from octo_lab.llm.structured import PROBLEMS, Unfit, fits_schema, fits_type, json_in

JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
)


@given(JSON, st.sampled_from(["{}", "\n{}\n", "```json\n{}\n```", "So:\n```\n{}\n```\nBye."]))
def test_json_is_found_in_any_wrapping(value: object, wrapping: str) -> None:
    text = json.dumps(value, indent=1)
    assert json_in(wrapping.replace("{}", text)) == value


@given(st.text())
def test_any_text_is_json_or_unfit(text: str) -> None:
    with contextlib.suppress(Unfit):
        json.dumps(json_in(text), allow_nan=False)


@pytest.mark.parametrize(
    "text", ["", "  ", "no", "{", "[1,", "{]", "NaN", "[NaN]", "1e999", "[" * 100_000]
)
def test_what_is_no_json_is_unfit(text: str) -> None:
    with pytest.raises(Unfit):
        json_in(text)


def test_few_problems_are_listed_and_the_rest_counted() -> None:
    check = fits_schema({"items": {"type": "string"}})
    with pytest.raises(Unfit, match=r"\$\[0\]: 0 is not of type 'string'; .*; and 2 more$"):
        check(list(range(PROBLEMS + 2)))


class Part(BaseModel):
    name: str


class Whole(BaseModel):
    parts: list[Part]


def test_a_type_says_where_a_problem_is() -> None:
    with pytest.raises(Unfit, match=r"^\$\.parts\[1\]\.name: Field required$"):
        fits_type(Whole)({"parts": [{"name": "a"}, {}]})
    assert fits_type(Whole)({"parts": [{"name": "a"}]}) == Whole(parts=[Part(name="a")])
