"""Wall time of ``grep`` on a tree of 50,000 files: with ripgrep, without, and ripgrep alone."""

from __future__ import annotations

import re
import statistics
import subprocess
import sysconfig
import tempfile
import time
from pathlib import Path

import anyio
import anyio.to_thread

from octo_lab.tools.builtin.grep import TOOL
from octo_lab.tools.tool import ToolContext

FILES, RUNS, GOAL = 50_000, 5, 2.0
PATTERN = r"needle_\d+"
SLOW = r"(?i:needle)_\d+"  # one that ripgrep is not asked about


def make_tree(root: Path) -> None:
    text = "".join(
        f"line {number} of some source code, nothing to see here\n" for number in range(20)
    )
    for number in range(FILES):
        folder = root / f"d{number // 1000}" / f"e{number // 100 % 10}"
        if number % 100 == 0:
            folder.mkdir(parents=True)
        more = f"needle_{number}\n" if number % 5000 == 0 else ""
        (folder / f"f{number}.py").write_text(text + more)


def context(root: Path) -> ToolContext:
    return ToolContext(
        workspace=root,
        channel="notebook",
        chat_id="",
        session="",
        turn_id="",
        call_id="",
        report=lambda line: None,
    )


async def tool_seconds(root: Path, pattern: str) -> float:
    args = TOOL.parse({"pattern": pattern})
    began = time.perf_counter()
    found = str(await TOOL.run(context(root), args))
    took = time.perf_counter() - began
    assert len(re.findall("needle_", found)) == FILES // 5000, found
    return took


def rg_seconds(root: Path) -> float:
    rg = str(Path(sysconfig.get_path("scripts"), "rg"))
    began = time.perf_counter()
    subprocess.run([rg, "-n", PATTERN], cwd=root, capture_output=True, check=True)
    return time.perf_counter() - began


async def measure(root: Path) -> dict[str, float]:
    times: dict[str, list[float]] = {"rg alone": [], "grep": [], "grep without rg": []}
    for _ in range(RUNS):
        times["rg alone"].append(await anyio.to_thread.run_sync(rg_seconds, root))
        times["grep"].append(await tool_seconds(root, PATTERN))
    times["grep without rg"].append(await tool_seconds(root, SLOW))
    return {name: statistics.median(values) for name, values in times.items()}


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder).resolve()
        make_tree(root)
        took = anyio.run(measure, root)
    print(f"\nWall time of a search in {FILES:,} files, ms, median of {RUNS} runs")
    for name, seconds in took.items():
        print(f"  {name:<16} {seconds * 1000:8.1f}  {seconds / took['rg alone']:5.2f}x")
    ratio = took["grep"] / took["rg alone"]
    print(f"  goal {GOAL:.1f}x: {'met' if ratio <= GOAL else 'MISSED'}")


if __name__ == "__main__":
    main()
