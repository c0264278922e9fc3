"""``octo doctor`` on machines that hold less: made for real, inside an outer bubblewrap."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from octo_lab.tools.sandbox.landlock_exec import landlock_version
from tests.cli.octo import Octo

pytestmark = pytest.mark.bwrap

MACHINE = ("bwrap", "--dev-bind", "/", "/")
GROUPS = "/sys/fs/cgroup"
SHELL = ("tools", "call", "shell", "--yes")


def sandbox_of(octo: Octo) -> dict[str, str]:
    findings = octo("doctor", "--json").json
    return next(one for one in findings if one["name"] == "sandbox")


def without_bubblewrap(octo: Octo) -> Octo:
    places = (path for path in ("/usr/bin/bwrap", "/usr/local/bin/bwrap") if Path(path).exists())
    hidden = (part for path in places for part in ("--ro-bind", "/dev/null", path))
    return replace(octo, before=(*MACHINE, *hidden))


def test_no_process_limit_holds_where_groups_cannot_be_made(octo: Octo) -> None:
    found = sandbox_of(replace(octo, before=(*MACHINE, "--ro-bind", GROUPS, GROUPS)))

    assert found["state"] == "warning"
    assert "limits that hold: none; no process limit holds" in found["detail"]
    assert "the memory limit holds for each process alone" in found["detail"]


def test_without_bubblewrap_the_next_is_taken_and_the_reason_told(octo: Octo) -> None:
    found = sandbox_of(without_bubblewrap(octo))

    weaker = "landlock" if landlock_version() else "none"
    assert found["detail"].startswith(f"{weaker}; not bwrap: bwrap is not installed; not macos")
    assert (found["state"], found["hint"][:18]) == ("warning", "install bubblewrap")


def test_a_command_runs_without_bubblewrap_and_says_that_the_walls_are_weak(octo: Octo) -> None:
    done = without_bubblewrap(octo)(*SHELL, '{"command": "echo ran"}')

    assert done.out.startswith("ran\n"), done
    assert "sandbox" in done.out + done.err
    assert "'octo doctor' says why." in done.out + done.err


def test_a_sandbox_that_was_set_and_is_missing_runs_nothing(octo: Octo) -> None:
    settings = octo.folder / "home" / ".config" / "octo_lab" / "config.json"
    settings.parent.mkdir(parents=True)
    settings.write_text('{"version": 1, "sandbox": {"mode": "bwrap"}}')

    done = without_bubblewrap(octo)(*SHELL, '{"command": "echo ran"}')

    assert done.code != 0
    assert "The sandbox 'bwrap' cannot be used: bwrap is not installed" in done.out + done.err
    assert "ran\n" not in done.out
