"""Wall time of a sandboxed ``true``, beside ``subprocess.run`` of the same arguments."""

from __future__ import annotations

import statistics
import subprocess
import tempfile
import time
from dataclasses import replace
from pathlib import Path

import anyio

from octo_lab.config.process import process_environ
from octo_lab.tools.exec_env import Execution
from octo_lab.tools.sandbox.bwrap import bwrap_argv
from octo_lab.tools.sandbox.local import Home, LocalExec
from octo_lab.tools.sandbox.policy import Job, SandboxPolicy
from octo_lab.tools.sandbox.sight import find_sight

GOAL, RUNS = 1.5, 200


async def measure(workspace: Path) -> dict[str, list[float]]:
    environ = process_environ()
    policy = SandboxPolicy(mode="bwrap")
    env = LocalExec(Home(workspace=workspace, environ=environ, policy=policy))
    choice = await env.choice()
    argv = bwrap_argv(_job(workspace), layout=choice.layout, fence=choice.fence)
    times: dict[str, list[float]] = {"subprocess.run": [], "sandbox": []}
    for _ in range(RUNS):
        began = time.perf_counter()
        _plain(argv)
        times["subprocess.run"].append(time.perf_counter() - began)
        began = time.perf_counter()
        await env.exec(Execution(argv=("true",)))
        times["sandbox"].append(time.perf_counter() - began)
    return times


def _plain(argv: list[str]) -> None:
    subprocess.run(argv, stdin=subprocess.DEVNULL, capture_output=True, check=True)


def _job(workspace: Path) -> Job:
    sight = find_sight(workspace, private=())
    job = Job(argv=("true",), workspace=sight.workspace, readable=sight.readable)
    return replace(job, hidden_folders=sight.hidden_folders, hidden_files=sight.hidden_files)


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        times = anyio.run(measure, Path(folder).resolve())
    floor = statistics.median(times["subprocess.run"])
    print(f"\nWall time of `true` in bubblewrap, ms, median of {RUNS} runs")
    for name, values in times.items():
        took = statistics.median(values)
        print(f"  {name:<16} {took * 1000:7.2f}  {took / floor:5.2f}x")
    ratio = statistics.median(times["sandbox"]) / floor
    print(f"  goal {GOAL:.1f}x: {'met' if ratio <= GOAL else 'MISSED'}")


if __name__ == "__main__":
    main()
