from __future__ import annotations

import pytest

from octo_lab.core.messages import Usage
from octo_lab.core.money import cost_text, dollars_text


@pytest.mark.parametrize(
    ("amount", "text"),
    [
        (0.0, "$0"),
        (0.00001, "<$0.0001"),
        (0.0001, "$0.0001"),
        (0.0042, "$0.0042"),
        (0.12345, "$0.1235"),
        (1.0, "$1.00"),
        (1234.5, "$1,234.50"),
    ],
)
def test_dollars_have_as_many_digits_as_tell_something(amount: float, text: str) -> None:
    assert dollars_text(amount) == text


@pytest.mark.parametrize(
    ("usage", "text"),
    [
        (Usage(), ""),
        (Usage(input_tokens=9, requests=2), ""),
        (Usage(requests=2, priced=2, cost=0.0042), "$0.0042"),
        (Usage(requests=2, priced=1, cost=0.0042), "at least $0.0042"),
        (Usage(requests=1, priced=1), "$0"),
    ],
)
def test_a_cost_is_shown_as_far_as_it_is_known(usage: Usage, text: str) -> None:
    assert cost_text(usage) == text


def test_a_part_too_small_to_be_shown_says_nothing_of_the_whole() -> None:
    assert cost_text(Usage(requests=2, priced=1, cost=0.000001)) == ""
