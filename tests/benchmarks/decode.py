"""CPU per chunk of decoding and adapting a stream, beside the floor and the vendors' clients."""

from __future__ import annotations

import json
import statistics
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from octo_lab.llm.wires.dialects import DIALECTS

CONTESTANTS = Path(__file__).parent / "contestants"
NAMES = ("floor", "octo", "sdk")
GOAL, ROUNDS = 1.5, 3
# chunks of an answer, answers of a round, the goal
WAYS: dict[str, tuple[int, int, float | None]] = {
    "paced": (200, 30, GOAL),
    "whole": (2_000, 20, None),
}
TITLES = {"paced": "one event a TCP write", "whole": "64 KB a TCP write"}


@contextmanager
def paced_server() -> Iterator[str]:
    server = subprocess.Popen(
        [sys.executable, "-m", "tests.benchmarks.paced_server"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert server.stdin is not None
    assert server.stdout is not None
    try:
        yield server.stdout.readline().strip()
    finally:
        server.stdin.close()
        server.wait(timeout=10)


def one_round(name: str, base_url: str, dialect: str, way: str) -> float:
    """Microseconds of CPU per chunk."""
    chunks, turns, _ = WAYS[way]
    script = str(CONTESTANTS / f"decode_{name}.py")
    command = [sys.executable, script, base_url, str(chunks), str(turns), dialect, way]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        sys.exit(f"{name} failed at {dialect}:\n{done.stderr[-2000:]}")
    return float(json.loads(done.stdout.splitlines()[-1])["cpu_ms"]) * 1000 / chunks


def main() -> None:
    dialects = sys.argv[1:] or sorted(DIALECTS)
    with paced_server() as base_url:
        for way, (chunks, _, goal) in WAYS.items():
            print(
                f"\nCPU of a chunk, us, {TITLES[way]}, {chunks} chunks, median of {ROUNDS} rounds"
            )
            for dialect in dialects:
                times: dict[str, list[float]] = {name: [] for name in NAMES}
                for _ in range(ROUNDS):
                    for name in NAMES:
                        times[name].append(one_round(name, base_url, dialect, way))
                _table(dialect, times, goal)


def _table(dialect: str, times: dict[str, list[float]], goal: float | None) -> None:
    floor = statistics.median(times["floor"])
    for name, values in times.items():
        middle = statistics.median(values)
        spread = f"({min(values):.1f}-{max(values):.1f})"
        aim = f"   goal <= {goal:.1f}" if name == "octo" and goal else ""
        print(
            f"  {dialect:10} {name:6} {middle:7.1f} {spread:15} x floor {middle / floor:5.2f}{aim}"
        )


if __name__ == "__main__":
    main()
