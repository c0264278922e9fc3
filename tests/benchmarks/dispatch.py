"""What the loop costs beside a model and its tools: per call, and per piece of an answer."""

from __future__ import annotations

import time

import anyio

from octo_lab.agent.limits import Limits
from octo_lab.testing.providers import ScriptedProvider, calls, says
from tests.agent.turns import ECHO, Turn, call

ROUNDS, PARALLEL, CHUNKS = 100, 8, 20_000
GOAL_MS = 0.3


async def per_call() -> float:
    """Milliseconds of CPU for a call that does nothing: dispatch, result, events, transcript."""
    steps = [
        calls(*(call("echo", f'{{"text": "{n} {k}"}}', id=f"{n}-{k}") for k in range(PARALLEL)))
        for n in range(ROUNDS)
    ]
    turn = Turn(ScriptedProvider(*steps, says("ok")), ECHO, limits=Limits(iterations=ROUNDS + 1))
    began = time.process_time()
    await turn()
    return (time.process_time() - began) / (ROUNDS * PARALLEL) * 1e3


async def per_chunk() -> float:
    """Microseconds of CPU for one piece of text."""
    turn = Turn(ScriptedProvider(says(*map(str, range(CHUNKS)))))
    began = time.process_time()
    await turn()
    return (time.process_time() - began) / CHUNKS * 1e6


async def main() -> None:
    await per_call()
    call_ms, chunk_us = await per_call(), await per_chunk()
    print(f"\nThe agent loop, {ROUNDS * PARALLEL} calls in {ROUNDS} steps; CPU")
    met = "met" if call_ms <= GOAL_MS else "MISSED"
    print(f"    one tool call   {call_ms:7.3f} ms   goal <= {GOAL_MS} ms: {met}")
    print(f"    one text chunk  {chunk_us:7.2f} µs")


if __name__ == "__main__":
    anyio.run(main)
