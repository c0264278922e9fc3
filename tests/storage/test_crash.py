"""What other processes, and the death of one, may do to a database: nothing."""

from __future__ import annotations

import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest

SCRIPT = Path(__file__).parent / "processes.py"
ROOT = Path(__file__).parents[2]


def run(*arguments: object) -> None:
    command = [sys.executable, str(SCRIPT), *map(str, arguments)]
    done = subprocess.run(
        command, env={"PYTHONPATH": str(ROOT)}, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr


def assert_sound(location: Path | str) -> None:
    if isinstance(location, Path):
        with closing(sqlite3.connect(location)) as connection:
            assert connection.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
            assert connection.execute("PRAGMA foreign_key_check").fetchall() == []


@pytest.mark.usefixtures("emptied_afterwards")
def test_a_process_killed_at_any_instant_leaves_only_whole_turns(
    location: Path | str, tmp_path: Path
) -> None:
    rounds = 60 if isinstance(location, Path) else 15
    run("kill", location, tmp_path, rounds, 0.3)
    assert_sound(location)


@pytest.mark.usefixtures("emptied_afterwards")
def test_three_processes_share_a_database_from_its_first_moment(
    location: Path | str, tmp_path: Path
) -> None:
    run("share", location, tmp_path, 3, 20)
    assert_sound(location)


def test_a_process_killed_while_it_makes_the_tables_does_no_harm(tmp_path: Path) -> None:
    run("make", tmp_path / "octo.db", tmp_path, 20, 0.08)
