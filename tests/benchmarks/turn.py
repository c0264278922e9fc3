"""CPU of one committed turn of 200 streamed chunks, beside the floor and two peers."""

from __future__ import annotations

import json
import statistics
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from operator import truediv
from pathlib import Path

HERE = Path(__file__).parent
CHUNKS, TURNS, ROUNDS = 200, 100, 9
GOAL = 2.0


@contextmanager
def model_server() -> Iterator[str]:
    server = subprocess.Popen(
        [sys.executable, HERE / "server.py"],
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


def one_round(python: str, contestant: str, base_url: str) -> float:
    command = [
        python,
        str(HERE / "contestants" / f"{contestant}.py"),
        base_url,
        str(CHUNKS),
        str(TURNS),
    ]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        sys.exit(f"{contestant} failed:\n{done.stderr[-2000:]}")
    return float(json.loads(done.stdout.splitlines()[-1])["cpu_ms"])


def contestants(peers: Path | None) -> Mapping[str, str]:
    ours = {"floor": sys.executable, "octo": sys.executable}
    if peers is None:
        return ours
    return {**ours, "openai_agents": str(peers), "pydantic_ai_peer": str(peers)}


def main() -> None:
    peers = Path(sys.argv[1]) if len(sys.argv) > 1 else None
    runners = contestants(peers)
    times: dict[str, list[float]] = {name: [] for name in runners}
    with model_server() as base_url:
        for number in range(ROUNDS):
            order = [*runners.items()][:: -1 if number % 2 else 1]  # so that a drift favours nobody
            for name, python in order:
                times[name].append(one_round(python, name, base_url))
    print(f"\nCPU of a turn of {CHUNKS} chunks, ms, median (min-max) of {ROUNDS} rounds")
    for name, values in times.items():
        middle = statistics.median(values)
        ratio = statistics.median(map(truediv, values, times["floor"]))  # each within its round
        spread = f"({min(values):.1f}-{max(values):.1f})"
        goal = f"   goal <= {GOAL:.1f}" if name == "octo" else ""
        print(f"  {name:18} {middle:7.1f} {spread:16} x floor {ratio:5.2f}{goal}")


if __name__ == "__main__":
    main()
