from __future__ import annotations

from typing import Any, NoReturn

import numpy as np
import pandas as pd
import pytest

from octo_lab.core.errors import UsageError
from octo_lab.core.mail import Attachment
from octo_lab.notebook.attach import attached, last_cells, mentioned
from octo_lab.notebook.describe import LIMIT, describe, short
from octo_lab.notebook.interpolate import interpolate


class Hostile:
    def __repr__(self) -> NoReturn:
        raise RuntimeError("no")


class Masked:
    """Lies about its class, and ends the process where it can."""

    def __getattribute__(self, name: str) -> Any:
        if name == "__class__":
            raise SystemExit("class")
        return object.__getattribute__(self, name)

    def __repr__(self) -> str:
        raise SystemExit("repr")


class Endless(list[Any]):
    def __repr__(self) -> str:
        return "x" * 10_000_000


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ("it's", "it's"),
        (42, "42"),
        (
            np.arange(20).reshape(4, 5),
            "array, shape (4, 5), dtype int64: 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, …",
        ),
        (Hostile(), "<Hostile; its description raised RuntimeError>"),
        ("\ud800", "\ufffd"),
    ],
)
def test_a_value_in_words(value: object, text: str) -> None:
    assert describe(value) == (text, ())


def test_a_value_that_lies_about_its_class_and_exits_is_described() -> None:
    assert describe(Masked()) == ("<Masked; its description raised SystemExit>", ())
    assert short(Masked()) == "Masked (its repr raised SystemExit)"


def test_a_frame_is_described_not_dumped() -> None:
    frame = pd.DataFrame({"a": [1, 2, None] * 100, "b": list("xyz") * 100})
    assert describe(frame)[0].splitlines() == [
        "DataFrame, 300 rows x 2 columns",
        "columns and dtypes:",
        "  a: float64",
        "  b: str" if pd.__version__ >= "3" else "  b: object",
        "missing values: a 100",
        "first 5 rows:",
        "     a  b",
        "0  1.0  x",
        "1  2.0  y",
        "2  NaN  z",
        "3  1.0  x",
        "4  2.0  y",
    ]


@pytest.mark.parametrize(
    "value", [list(range(10**6)), Endless(), dict.fromkeys(range(9999), "x" * 100)]
)
def test_any_description_is_bounded(value: object) -> None:
    assert len(describe(value)[0]) < LIMIT + 100
    assert len(short(value)) < 200


def test_braces_that_hold_no_expression_stay() -> None:
    text = r"{{#each}} \frac{{a}{b}} {x} {{ }} }}"
    assert interpolate(text, {}) == (text, ())


def test_a_missing_name_is_named() -> None:
    with pytest.raises(UsageError, match="no variable is called 'nope'"):
        interpolate("{{ nope.x }}", {})


def test_mentions_are_variables_and_cells_others_are_words() -> None:
    found, notice = mentioned(
        "see @x. and @cell1, not @y, a@x.com or `@x`", {"x": 1}, ["", "1 + 1"]
    )
    assert found == (Attachment(name="x", text="1"), Attachment(name="In[1]", text="1 + 1"))
    assert "@y" in notice


def test_an_expression_can_be_attached() -> None:
    assert attached("x + 1", {"x": 1}, []) == Attachment(name="x + 1", text="2")
    with pytest.raises(UsageError, match="no variable, expression or file"):
        attached("no such thing", {}, [])


def test_the_last_cells_come_with_their_values() -> None:
    cells = ["", "a = 1", "a", "%octo --context 2 why?"]
    assert last_cells(2, cells, {2: 1}) == Attachment(
        name="last 2 cells", text="In[1]:\na = 1\n\nIn[2]:\na\nOut[2]: 1"
    )
