from __future__ import annotations

import anyio
import pytest

from octo_lab.core.stream import Remarked
from octo_lab.llm.resilience.adaptive import Adaptive
from octo_lab.llm.resilience.pace import Ceiling, Observer, Pace, Paced
from octo_lab.llm.resilience.policy import Mode
from octo_lab.llm.resilience.responsiveness import PROMPT, SLOW, Responsive
from octo_lab.testing.providers import Step
from tests.llm.resilience.models import REQUEST, VIRTUAL, after, drain, listen, scripted, slots

pytestmark = pytest.mark.anyio


@pytest.fixture
def anyio_backend() -> object:
    return VIRTUAL


def fed(observer: Observer | Ceiling, *samples: float) -> list[bool]:
    told = []
    for sample in samples:
        observer.feed(sample)
        told.append(observer.slow)
    return told


def test_the_baseline_is_the_median_of_the_first_five() -> None:
    observer = Observer()
    fed(observer, 1.0, 9.0, 2.0, 1.0, 1.5)
    assert observer.baseline == 1.5


def test_three_slow_answers_in_a_row_make_it_slow_one_normal_ends_it() -> None:
    observer = Observer()
    fed(observer, *[1.0] * 5)
    told = fed(observer, 3.1, 3.1, 2.9, 3.1, 3.1, 3.1, 9.0, 3.0)
    assert told == [False, False, False, False, False, True, True, False]


def test_the_baseline_moves_a_fifth_every_twenty_answers() -> None:
    observer = Observer()
    fed(observer, *[1.0] * 5, *[2.0] * 14)
    assert observer.baseline == 1.0
    fed(observer, 2.0)
    assert observer.baseline == pytest.approx(1.2)
    fed(observer, *[2.0] * 20)
    assert observer.baseline == pytest.approx(1.36)


def test_an_average_above_the_ceiling_is_slow_until_well_below() -> None:
    ceiling = Ceiling()
    assert fed(ceiling, *[8.1] * 5) == [False] * 4 + [True]
    assert fed(ceiling, 5.0, 5.0, 5.0, 5.0, 5.0) == [True] * 5
    assert fed(ceiling, 4.1, 4.0) == [True, False]


def router(*steps: Step, mode: Mode = "off") -> Adaptive:
    other = scripted("b", *[after(50.0, "b")] * 20)
    return Adaptive(slots(scripted("a", *steps), other), mode=mode, clock=anyio.current_time)


def answers(*seconds: float) -> list[Step]:
    return [after(each, "a") for each in seconds]


async def test_it_hedges_while_answers_are_slow_and_tells_both_times() -> None:
    made = router(*answers(*[1.0] * 5, *[4.0] * 4, 1.0, 1.0))
    watched = Responsive(made, clock=anyio.current_time)

    told, modes = [], []
    for _ in range(11):
        told += (await listen(watched))[1]
        modes.append(made.mode)
    assert modes == ["off"] * 7 + ["hedge"] * 2 + ["off"] * 2
    assert told == [SLOW, PROMPT]
    assert (watched.name, watched.model, len(watched.metrics())) == ("a", "m", 2)


async def test_the_notice_comes_before_the_answer() -> None:
    made = router(*answers(*[1.0] * 5, *[4.0] * 3))
    watched = Responsive(made, clock=anyio.current_time)
    for _ in range(7):
        await listen(watched)
    assert (await drain(watched.stream(REQUEST)))[0] == Remarked(SLOW)


async def test_recovery_restores_the_mode_before() -> None:
    made = router(mode="lane")
    assert (made.escalate(), made.mode, made.escalate()) == (True, "hedge", False)
    assert (made.relax(), made.mode, made.relax()) == (True, "lane", False)


async def test_one_model_alone_is_paced_by_how_long_its_answers_take_to_begin() -> None:
    pace = Pace(least=1.0)
    alone = Paced(
        scripted("a", *answers(0.1, *[0.2] * 4, 2.9, *[3.1] * 3, 1.0)), pace, anyio.current_time
    )
    told = []
    for _ in range(10):
        await listen(alone)
        told.append(pace.slow)
    assert told == [False] * 8 + [True, False]
    assert (alone.name, alone.model) == ("a", "m")
