from __future__ import annotations

from octo_lab.llm.resilience.circuit import Circuit, CircuitPolicy

POLICY = CircuitPolicy(threshold=3, cool_off=30.0, longest=100.0)


class Time:
    now = 0.0

    def __call__(self) -> float:
        return self.now


def circuit(failures: int = 0) -> tuple[Circuit, Time]:
    time = Time()
    made = Circuit(POLICY, time)
    for _ in range(failures):
        made.fail()
    return made, time


def test_three_failures_in_a_row_open_it() -> None:
    made, _ = circuit(2)
    assert (made.state, made.admits) == ("closed", True)
    made.fail()
    assert (made.state, made.admits) == ("open", False)


def test_a_success_forgets_all_failures() -> None:
    made, _ = circuit(2)
    made.succeed()
    made.fail()
    made.fail()
    assert made.state == "closed"


def test_after_the_pause_one_request_at_a_time_may_try() -> None:
    made, time = circuit(3)
    time.now = 30.0
    assert (made.state, made.admits) == ("half-open", True)
    trial = made.begin()
    assert (trial, made.admits) == (True, False)
    made.leave(trial)
    assert made.admits


def test_a_request_beside_the_trial_does_not_end_it() -> None:
    made, time = circuit(3)
    time.now = 30.0
    made.begin()
    made.leave(made.begin())
    assert not made.admits


def test_a_trial_that_succeeds_closes_it() -> None:
    made, time = circuit(3)
    time.now = 30.0
    trial = made.begin()
    made.succeed()
    made.leave(trial)
    assert (made.state, made.failures) == ("closed", 0)


def test_each_failed_trial_doubles_the_pause_up_to_a_limit() -> None:
    made, time = circuit(3)
    pauses = []
    for _ in range(3):
        start = time.now
        while made.state == "open":
            time.now += 1.0
        pauses.append(time.now - start)
        trial = made.begin()
        made.fail()
        made.leave(trial)
    assert pauses == [30.0, 60.0, 100.0]


def test_a_server_that_asks_for_peace_gets_it_at_once_within_reason() -> None:
    made, time = circuit()
    states = []
    for wish, now in ((12.0, 0.0), (None, 12.0), (1e9, 111.0), (None, 112.0)):
        time.now = now if wish is None else time.now
        if wish is not None:
            made.fail(wish)
            time.now = now
        states.append(made.state)
    assert states == ["open", "closed", "open", "closed"]
