from __future__ import annotations

import pytest

from octo_lab.core.messages import Usage
from octo_lab.llm.resilience.tally import RING, Tally


def test_running_values_follow_the_newest_by_alpha() -> None:
    tally = Tally(0.3)
    tally.answered(1.0, 2.0, Usage(output_tokens=100))
    tally.answered(2.0, 4.0, Usage(output_tokens=400))

    assert (tally.calls, tally.errors, tally.error_rate) == (2, 0, 0.0)
    assert (tally.first, tally.total, tally.throughput) == pytest.approx((1.3, 2.6, 65.0))
    assert tally.usage.output_tokens == 500


def test_errors_count_but_take_no_time() -> None:
    tally = Tally(0.3)
    tally.answered(1.0, 2.0, Usage())
    tally.failed()

    assert (tally.calls, tally.errors, tally.error_rate, tally.first) == (2, 1, 0.5, 1.0)
    assert tally.throughput is None


def test_only_the_last_calls_make_the_rate() -> None:
    tally = Tally(0.3)
    for _ in range(RING):
        tally.failed()
    for number in range(RING + 1):
        tally.answered(float(number), 99.0, Usage())

    assert (tally.errors, tally.error_rate) == (RING, 0.0)
    assert list(tally.firsts) == [float(number) for number in range(1, RING + 1)]
