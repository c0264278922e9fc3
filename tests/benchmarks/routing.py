"""Does sharing the work among models pay? Simulated in virtual time: the figures never vary."""

from __future__ import annotations

import anyio

from octo_lab.llm.resilience.policy import Mode
from octo_lab.testing.virtual_time import VirtualTime
from tests.llm.resilience.simulation import (
    Figures,
    heavy_tails,
    outage,
    routed,
    simulate,
    three_speeds,
)

REQUESTS = 1000


async def tails(mode: Mode) -> Figures:
    return await simulate(routed(mode, *heavy_tails()), REQUESTS)


async def speeds(mode: Mode) -> Figures:
    return await simulate(routed(mode, *three_speeds()), REQUESTS)


async def trouble() -> tuple[Figures, int]:
    """Answers during ten minutes in which the preferred is down, and how often it was asked."""
    down, other = outage(anyio.current_time())
    figures = await simulate(routed("off", down, other), 200)
    return figures, down.requests


async def main() -> None:
    print(f"\nRouting, {REQUESTS:,} simulated requests each; seconds until the answer began")
    off, hedge = await tails("off"), await tails("hedge")
    print("  two models, one answer in 20 takes twenty times as long:")
    _line("hedge / off, p50", hedge.wait(0.5), off.wait(0.5), "<= 1")
    _line("hedge / off, p99", hedge.wait(0.99), off.wait(0.99), "<= 0.2")
    off, lane = await speeds("off"), await speeds("lane")
    print("  three models: the preferred slow, one flaky, one good:")
    _line("lane / off, p50", lane.wait(0.5), off.wait(0.5), "<= 0.25")
    best = lane.answered[REQUESTS // 2 :].count("best")
    _line("of the second half, by the best", best, REQUESTS // 2, ">= 0.95")
    during, asked = await trouble()
    print("  the preferred is down for ten minutes:")
    _line("answered by the other", during.shares["b"], 200, "= 1")
    _line("of 200 requests, asked in vain", asked, 200, "<= 0.05")


def _line(what: str, value: float, floor: float, goal: str) -> None:
    print(f"    {what:32} {value:7.2f} / {floor:7.2f}   ratio {value / floor:5.3f}   goal {goal}")


if __name__ == "__main__":
    anyio.run(main, backend_options={"loop_factory": VirtualTime})
