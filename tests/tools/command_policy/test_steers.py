"""What a yes to a command line covers of the things that others obey later."""

from __future__ import annotations

import pytest

from octo_lab.tools.command_policy.judge import judge_command, steers
from octo_lab.tools.command_policy.place import Place

PLACE = Place(workspace="/home/ann/work", home="/home/ann")


@pytest.mark.parametrize(
    ("line", "covered"),
    [
        ("echo x > AGENTS.md", True),
        ("cp .env.example .env", True),
        ("cd sub && cp a .git/hooks/x; ls", True),
        ("git config core.pager less", True),
        ("git worktree remove x", True),
        ("cat AGENTS.md; python x.py", False),
        ("python x.py AGENTS.md", False),
        ("cat AGENTS.md; rm -r build", False),
        ("pytest", False),
        ("git config user.name ann", False),
        ("echo 'x", False),
    ],
)
def test_only_a_part_that_is_asked_about_and_names_them(line: str, covered: bool) -> None:
    assert steers(line, PLACE) is covered
    assert not covered or judge_command(line, PLACE).decision == "ask"
