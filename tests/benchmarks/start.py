"""What it costs to be there: the import beside httpx, the kernel beside the plain one."""

from __future__ import annotations

import os
import resource
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from operator import truediv

import psutil
from jupyter_client.manager import KernelManager

ROUNDS = 7
Cost = tuple[float, float]  # wall s, CPU s


def import_cost(module: str) -> Cost:
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    started = time.perf_counter()
    subprocess.run([sys.executable, "-c", f"import {module}"], check=True)
    wall = time.perf_counter() - started
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return wall, cpu


def kernel_cost(name: str) -> Cost:
    """From the start of the process to the first answered request."""
    manager = KernelManager(kernel_name=name, transport="ipc")
    started = time.perf_counter()
    manager.start_kernel()
    client = manager.client()
    client.start_channels()
    try:
        client.wait_for_ready(timeout=60)
        wall = time.perf_counter() - started
        kernel = psutil.Process(os.getpid()).children()[-1]
        times = kernel.cpu_times()
        return wall, times.user + times.system
    finally:
        client.stop_channels()
        manager.shutdown_kernel(now=True)


def compare(title: str, cost: Callable[[str], Cost], ours: str, floor: str, goal: float) -> None:
    costs: dict[str, list[Cost]] = {floor: [], ours: []}
    for _ in range(ROUNDS):
        for name, kept in costs.items():
            kept.append(cost(name))
    print(f"\n{title}, ms, median of {ROUNDS} alternating rounds")
    for index, what in enumerate(("wall", "CPU")):
        lows, highs = ([cost[index] * 1000 for cost in costs[name]] for name in (floor, ours))
        low, high = statistics.median(lows), statistics.median(highs)
        ratio = statistics.median(map(truediv, highs, lows))  # each within its round
        print(
            f"  {what:5} {floor} {low:7.0f}   {ours} {high:7.0f}"
            f"   ratio {ratio:4.2f}   goal <= {goal}"
        )


def main() -> None:
    compare("import", import_cost, "octo_lab", "httpx", 1.5)
    compare("kernel start", kernel_cost, "octo", "python3", 1.25)


if __name__ == "__main__":
    main()
