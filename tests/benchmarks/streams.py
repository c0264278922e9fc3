"""Two hundred streams at once in one loop: CPU of a turn, and how late the loop gets."""

from __future__ import annotations

import json
import statistics
import subprocess
import sys
from pathlib import Path

from tests.benchmarks.decode import paced_server

SCRIPT = Path(__file__).parent / "contestants" / "streams.py"
NAMES = ("httpx", "httpx_pools", "httpx2", "octo", "octo_on_httpx2")
CHUNKS, WAVES, ROUNDS = 50, 1, 3


def one_round(name: str, base_url: str) -> dict[str, float]:
    command = [sys.executable, str(SCRIPT), base_url, str(CHUNKS), str(WAVES), name]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        sys.exit(f"{name} failed:\n{done.stderr[-2000:]}")
    figures: dict[str, float] = json.loads(done.stdout.splitlines()[-1])
    return figures


def main() -> None:
    rounds: dict[str, list[dict[str, float]]] = {name: [] for name in NAMES}
    with paced_server() as base_url:
        for _ in range(ROUNDS):
            for name in NAMES:
                rounds[name].append(one_round(name, base_url))
    print(f"\n200 streams at once, {CHUNKS} chunks each, 20 a second, median of {ROUNDS} rounds")
    floor = statistics.median(one["cpu_ms"] for one in rounds["httpx"])
    for name, figures in rounds.items():
        cpu, p99 = (statistics.median(f[key] for f in figures) for key in ("cpu_ms", "p99_ms"))
        lag = max(f["lag_ms"] for f in figures)
        print(
            f"  {name:15} CPU of a turn {cpu:5.1f} ms, x httpx {cpu / floor:4.2f}"
            f"   loop lag p99 {p99:5.1f} ms, max {lag:6.1f} ms"
        )


if __name__ == "__main__":
    main()
