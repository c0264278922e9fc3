"""What the death of a process, and others at the same dialog, do to its summaries: nothing."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

SCRIPT = Path(__file__).parent / "compactors.py"
ROOT = Path(__file__).parents[2]


def run(*arguments: object) -> str:
    command = [sys.executable, str(SCRIPT), *map(str, arguments)]
    environ = {**os.environ, "PYTHONPATH": str(ROOT)}
    done = subprocess.run(command, env=environ, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-5000:]
    return done.stdout


def test_a_process_killed_while_it_sums_up_leaves_the_dialog_whole(tmp_path: Path) -> None:
    run("kill", tmp_path, 20, 0.8)


def test_processes_that_sum_up_one_dialog_at_once_make_one_summary_each_time(
    tmp_path: Path,
) -> None:
    run("share", tmp_path, 4, 10)


def test_a_dialog_of_hundreds_of_turns_goes_on_and_is_summed_up(tmp_path: Path) -> None:
    lines = run("grow", tmp_path, 200, 100).splitlines()

    assert [line.partition(":")[0] for line in lines] == ["100", "200", "/compact", "/status"]
