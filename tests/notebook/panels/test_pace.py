from __future__ import annotations

import pytest

from octo_lab.notebook.panels.pace import Pace


class Hand:
    """A clock moved by hand."""

    now = 100.0

    def __call__(self) -> float:
        return self.now


def test_work_waits_for_the_interval_and_longer_the_dearer_it_was() -> None:
    clock = Hand()
    pace = Pace(1.0, share=0.1, clock=clock)
    due = [pace.due]
    with pace.spend():
        clock.now += 0.01
    for passed in (0.0, 1.0):
        clock.now += passed
        due.append(pace.due)
    with pace.spend():
        clock.now += 0.5
    for passed in (4.9, 0.2):
        clock.now += passed
        due.append(pace.due)
    assert due == [True, False, True, False, True]


def test_work_that_fails_still_counts() -> None:
    clock = Hand()
    pace = Pace(1.0, clock=clock)
    with pytest.raises(ValueError, match="bad"), pace.spend():
        raise ValueError("bad")
    assert not pace.due
