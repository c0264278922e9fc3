from __future__ import annotations

from dataclasses import dataclass

import pytest

from octo_lab.core.errors import UsageError
from octo_lab.core.registry import Registry


@dataclass(frozen=True)
class Fruit:
    name: str
    colour: str = ""


def test_entries_keep_their_order_and_a_later_one_replaces() -> None:
    fruits = Registry("fruit", [Fruit("apple"), Fruit("pear"), Fruit("apple", "red")])

    assert list(fruits) == [Fruit("apple", "red"), Fruit("pear")]
    assert len(fruits) == 2
    assert "pear" in fruits


def test_a_wrong_name_is_answered_with_the_nearest_one() -> None:
    fruits = Registry("fruit", [Fruit("apple"), Fruit("pear")])

    with pytest.raises(UsageError, match=r"No fruit named 'aple' \(did you mean 'apple'\?\)"):
        fruits["aple"]
    with pytest.raises(UsageError, match="known: apple, pear"):
        fruits["zzz"]
