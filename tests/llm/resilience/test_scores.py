from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from octo_lab.llm.resilience.policy import RouterPolicy, Weights
from octo_lab.llm.resilience.scores import Standing, degraded, errors, percentile, scores

POLICY = RouterPolicy()
share = st.floats(0, 1)
amount = st.none() | st.floats(0, 1e6)
standings = st.builds(
    Standing,
    calls=st.integers(0, 100),
    error_rate=share,
    expected_errors=share,
    throughput=amount,
    latency=amount,
    quality=amount,
    cost=amount,
)
routers = st.lists(standings, min_size=1, max_size=6)


def test_the_formula_by_hand() -> None:
    first = Standing(calls=5, error_rate=0.2, expected_errors=0.0, throughput=50.0, cost=18.0)
    second = Standing(calls=20, error_rate=0.0, throughput=100.0, quality=10.0, cost=9.0)

    assert scores([first, second], POLICY) == pytest.approx(
        (0.3 * 0.1 + 0.3 * 0.5 + 0.2 * 1.0, 0.2 * 0.5 + 0.2 * 0.5)
    )
    assert scores([first, second], POLICY, quality=True) == pytest.approx(
        (0.3 * 0.1 + 0.3 * (0.6 * 0.5 + 0.4 * 0.5) + 0.2, 0.3 * 0.0 + 0.2 * 0.5 + 0.2 * 0.5)
    )


def test_nothing_known_is_the_middle_and_priority_decides() -> None:
    assert scores([Standing(), Standing()], POLICY) == pytest.approx((0.25, 0.35))


def test_measured_errors_take_over_from_expected_ones() -> None:
    told = [
        errors(Standing(calls=calls, error_rate=1.0, expected_errors=0.0), POLICY)
        for calls in (0, 5, 10, 99)
    ]
    later = RouterPolicy(blend_calls=20, blend_most=0.5)
    assert told == [0.0, 0.5, 1.0, 1.0]
    assert errors(Standing(calls=99, error_rate=1.0), later) == 0.5


def test_slow_or_failing_models_come_last() -> None:
    assert degraded(Standing(latency=10.1), POLICY)
    assert degraded(Standing(calls=10, error_rate=0.31), POLICY)
    assert not degraded(Standing(calls=10, error_rate=0.3, latency=10.0), POLICY)


@given(routers, st.booleans(), st.data())
def test_more_errors_never_improve_a_score(
    router: list[Standing], quality: bool, data: st.DataObject
) -> None:
    place = data.draw(st.integers(0, len(router) - 1))
    worse = data.draw(st.floats(router[place].error_rate, 1))
    changed = [*router]
    changed[place] = replace(router[place], error_rate=worse)

    before = scores(router, POLICY, quality=quality)
    after = scores(changed, POLICY, quality=quality)
    assert after[place] >= before[place]
    assert after[:place] + after[place + 1 :] == before[:place] + before[place + 1 :]


@given(routers, st.data())
def test_being_faster_or_cheaper_never_worsens_a_score(
    router: list[Standing], data: st.DataObject
) -> None:
    place = data.draw(st.integers(0, len(router) - 1))
    one = router[place]
    if one.throughput is None or one.cost is None:
        return
    better = replace(
        one,
        throughput=data.draw(st.floats(one.throughput, 1e6)),
        cost=data.draw(st.floats(0, one.cost)),
    )
    changed = [*router[:place], better, *router[place + 1 :]]
    assert scores(changed, POLICY)[place] <= scores(router, POLICY)[place] + 1e-9


@given(routers, st.booleans())
def test_scores_stay_within_the_weights(router: list[Standing], quality: bool) -> None:
    weights = Weights()
    most = weights.latency + weights.error + weights.priority + weights.cost
    assert all(-1e-9 <= score <= most + 1e-9 for score in scores(router, POLICY, quality=quality))


def test_a_percentile_is_one_of_the_values() -> None:
    values = [float(number) for number in range(100, 0, -1)]
    assert [percentile(values, share) for share in (0.5, 0.95, 1.0)] == [50.0, 95.0, 100.0]
    assert percentile([7.0], 0.95) == 7.0
    assert percentile([], 0.5) is None
