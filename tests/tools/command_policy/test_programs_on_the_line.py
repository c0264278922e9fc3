"""A program given on the line is judged as a script of the workspace is."""

from __future__ import annotations

import pytest

from octo_lab.tools.command_policy.judge import judge_command
from octo_lab.tools.command_policy.place import Place
from octo_lab.tools.command_policy.shells import INTERPRETERS

WALLED = Place(workspace="/home/ann/work", home="/home/ann")
OPEN = Place(workspace="/home/ann/work", home="/home/ann", walls=False)

PROGRAMS = r"""
python script.py
python -c 'import os'
python3 -c 'x'
python3.12 -Ic 'x'
python -
python
python <<< 'x'
echo x | python
perl -e x
perl -ne x
ruby -e x
node -e x
node --eval x
php -r x
awk 'BEGIN{system("rm -rf /")}'
awk '{print > "/etc/x"}' y
awk '{"rm -rf /" | getline}' y
awk -f x y
awk '{ x="}"; print > "/etc/x" }' y
sed '1e rm -rf /' x
sed 's/a/b/e' x
sed 'w /etc/x' y
sed -n '/x/w y' z
sed -f x y
ipython -c x
nodejs -e x
pypy3 -c x
"""


def decisions(line: str) -> tuple[str, str]:
    return judge_command(line, WALLED).decision, judge_command(line, OPEN).decision


@pytest.mark.parametrize("line", PROGRAMS.strip("\n").split("\n"))
def test_it_runs_unasked_inside_walls_and_is_asked_about_without(line: str) -> None:
    assert decisions(line) == ("allow", "ask")


@pytest.mark.parametrize("name", sorted(set(INTERPRETERS) - {"gdb", "osascript"}))
def test_every_interpreter_is_judged_alike(name: str) -> None:
    options = [f"{'-' if len(option) == 1 else '--'}{option}" for option in INTERPRETERS[name]]
    for line in (f"{name} script", f"{name} -", *(f"{name} {option} x" for option in options)):
        assert decisions(line) == ("allow", "ask"), line


def test_a_document_is_a_program_too() -> None:
    assert decisions("python - <<'EOF'\nx\nEOF") == ("allow", "ask")


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("sh -c ls", ("allow", "allow")),
        ("sh -c 'rm -rf /'", ("deny", "deny")),
        ("bash -c 'python -c x'", ("allow", "ask")),
        ("bash -c 'rm -r x'", ("ask", "ask")),
        ('bash -c "$x"', ("ask", "ask")),
    ],
)
def test_what_a_shell_is_told_is_read(line: str, expected: tuple[str, str]) -> None:
    assert decisions(line) == expected
