"""The judge beside the real thing: what Bash runs of a line, the judge has seen.

Bash gets a folder of programs in which ``rm`` only leaves a mark, and nothing else to remove with.
"""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from octo_lab.tools.command_policy.judge import judge_command
from octo_lab.tools.command_policy.place import Place

PLACE = Place(workspace="/home/ann/work", home="/home/ann")
BORROWED = ("sh", "bash", "env", "xargs", "cat", "timeout", "nohup", "printf", "true")
DANGER = st.sampled_from(["rm -rf /", "r''m -rf /", "rm -r\\\nf /"])
PIECES = st.sampled_from([
    " ", "\n", ";", "&&", "||", "|", "&", "(", ")", "{ ", " }", "'", '"', "\\", "`", "$(", "${x",
    "}", "$x", "$((", "))", "<<E\n", "<<'E'\n", "\nE\n", "<<<", "<(", ">x ", "<x ", "2>&1 ", "#",
    "if true; then ", "fi", "do ", "done", "while false; ", "for i in 1; ", "case x in x) ", "esac",
    ";;", "f() ", "f", "[[ ", " ]]", "((", "x=", "a=(", "echo ", "eval ", "sh -c ", "env ",
    "xargs ", "cat ", "printf '%s' ", "$'", "~", "*", "!", "time ", "command ", "\\\n", "\t", "in ",
    "x", "E", "-", "=", "\r", "{a,",
])  # fmt: skip


@pytest.fixture
def programs(tmp_path: Path) -> Path:
    folder = tmp_path / "programs"
    folder.mkdir()
    for name in BORROWED:
        if found := shutil.which(name):
            (folder / name).symlink_to(found)
    (folder / "rm").write_text(f'#!/bin/sh\necho "$*" >> {tmp_path}/removed\n')
    (folder / "rm").chmod(0o755)
    return folder


@pytest.mark.skipif(not shutil.which("bash"), reason="bash: no shell")
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(before=st.lists(PIECES, max_size=8), danger=DANGER, after=st.lists(PIECES, max_size=8))
@example(before=[">x ", "x="], danger="command rm -rf /", after=[])
@example(before=["env ", "="], danger="x rm -rf /", after=[])
@example(before=["a=(", ")", ",xargs "], danger="rm -rf /", after=[])
def test_what_bash_removes_was_never_allowed(
    programs: Path, before: list[str], danger: str, after: list[str]
) -> None:
    line = f"{''.join(before)}{danger}{''.join(after)}"
    if judge_command(line, PLACE).decision != "allow":
        return
    removed = programs.parent / "removed"
    removed.unlink(missing_ok=True)
    work = programs.parent / "work"
    work.mkdir(exist_ok=True)
    subprocess.run(
        [programs / "bash", "--norc", "-c", line],
        cwd=work,
        env={"PATH": str(programs)},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        timeout=20,
        check=False,
    )
    gone = removed.read_text().split() if removed.exists() else []
    assert "/" not in gone, line
