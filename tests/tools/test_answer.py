from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd
import pytest
from pydantic import BaseModel

from octo_lab.core.messages import Media
from octo_lab.tools.answer import as_result
from octo_lab.tools.tool import ToolResult


@dataclass
class Point:
    x: int


class Model(BaseModel):
    y: int


class Hostile:
    def __repr__(self) -> str:
        raise RuntimeError("no")


LOOP: list[object] = []
LOOP.append(LOOP)


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ("as it is", "as it is"),
        (None, "Done; it returned nothing."),
        ({"a": [1, "ž"]}, '{"a": [1, "ž"]}'),
        (True, "true"),
        (2.5, "2.5"),
        (Point(1), '{"x": 1}'),
        (Model(y=2), '{"y":2}'),
        (b"\x00\x01", "2 bytes: b'\\x00\\x01'"),
        ({1, 2}, "{1, 2}"),
        ({"s": {1}}, '{"s": "{1}"}'),
        (LOOP, "[[[[[[[...]]]]]]]"),
        ({(1, 2): 3}, "{(1, 2): 3}"),
        (np.int64(5), "np.int64(5)"),
    ],
)
def test_a_value_becomes_text(value: object, text: str) -> None:
    assert as_result(value) == ToolResult(text=text)


def test_a_result_passes_unchanged() -> None:
    result = ToolResult(text="x", media=(Media(mime="image/png", data=b"1"),))

    assert as_result(result) is result


def test_a_table_is_its_shape_and_first_rows() -> None:
    frame = pd.DataFrame({"a": range(1000)})

    text = as_result(frame).text

    assert text.startswith("DataFrame of shape 1000 x 1:\n     a\n0    0\n")
    assert text.endswith("49  49\n… 950 more rows")


def test_an_object_whose_repr_fails_does_no_harm() -> None:
    assert as_result(Hostile()).text.startswith("<Hostile instance at 0x")


def test_a_huge_repr_is_cut() -> None:
    assert len(as_result({"x" * 1_000_000}).text) < 30_000
