"""A long answer shown in a cell: does ten times the text cost ten times as much?"""

from __future__ import annotations

import os
import statistics
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psutil
from jupyter_client.blocking.client import BlockingKernelClient
from jupyter_client.manager import KernelManager

from tests.benchmarks.turn import model_server

SHORT, LONG, ROUNDS = 2_000, 20_000, 5
CPU_GOAL, MEMORY_GOAL = 11.0, 12.0


@dataclass(frozen=True, slots=True)
class Cost:
    cpu: float  # seconds
    memory: float  # MB of peak growth


@contextmanager
def octo_kernel(base_url: str, home: Path) -> Iterator[tuple[BlockingKernelClient, psutil.Process]]:
    folders = {"OCTO_HOME": str(home), "OCTO_WORKSPACE": str(home)}
    env = {**os.environ, "OPENAI_BASE_URL": base_url, **folders}
    manager = KernelManager(kernel_name="octo", transport="ipc")
    manager.start_kernel(env=env)
    client = manager.client()
    client.start_channels()
    try:
        client.wait_for_ready(timeout=60)
        yield client, psutil.Process(os.getpid()).children()[-1]
    finally:
        client.stop_channels()
        manager.shutdown_kernel(now=True)


def ask(client: BlockingKernelClient, chunks: int) -> int:
    """Ask as JupyterLab would, read everything that is shown; the number of messages."""
    shown: list[Any] = []
    reply = client.execute_interactive(
        f"%octo -m openai/chunks-{chunks} go",
        allow_stdin=True,
        output_hook=shown.append,
        stdin_hook=lambda message: None,
        timeout=300,
    )
    assert reply["content"]["status"] == "ok", reply["content"]
    ends = [m["content"] for m in shown if m["msg_type"] == "update_display_data"]
    answer = str(ends[-1]["data"]["text/plain"])
    assert answer.count("alpha") == chunks // 5, answer[:500]
    return len(shown)


def peak(kernel: psutil.Process) -> float:
    """Peak resident memory so far, MB."""
    status = Path(f"/proc/{kernel.pid}/status")
    if not status.exists():
        return kernel.memory_info().rss / 1e6
    line = next(line for line in status.read_text().splitlines() if line.startswith("VmHWM"))
    return int(line.split()[1]) / 1e3


def one_round(base_url: str, chunks: int) -> Cost:
    with (
        tempfile.TemporaryDirectory() as home,
        octo_kernel(base_url, Path(home)) as (
            client,
            kernel,
        ),
    ):
        ask(client, 200)
        before, high = kernel.cpu_times(), peak(kernel)
        ask(client, chunks)
        after = kernel.cpu_times()
        cpu = after.user + after.system - before.user - before.system
        return Cost(cpu, peak(kernel) - high)


def main() -> None:
    costs: dict[int, list[Cost]] = {SHORT: [], LONG: []}
    with model_server() as base_url:
        for _ in range(ROUNDS):
            for chunks, kept in costs.items():
                kept.append(one_round(base_url, chunks))
    short, long = costs[SHORT], costs[LONG]
    print(f"\nAn answer shown in a cell, median of {ROUNDS} rounds, fresh kernels")
    _line("CPU s", [c.cpu for c in short], [c.cpu for c in long], CPU_GOAL)
    _line("memory MB", [c.memory for c in short], [c.memory for c in long], MEMORY_GOAL)


def _line(what: str, short: list[float], long: list[float], goal: float) -> None:
    low, high = statistics.median(short), statistics.median(long)
    print(
        f"  {what:10} {SHORT:,} chunks {low:6.2f}   {LONG:,} chunks {high:6.2f}"
        f"   ratio {high / max(low, 0.01):5.2f}   goal <= {goal:g}"
    )


if __name__ == "__main__":
    main()
