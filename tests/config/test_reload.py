from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from octo_lab.config.place import Place, find_place
from octo_lab.config.reload import Reloader
from octo_lab.config.trust import VARIABLE


class Workspace:
    """A folder with settings, and what a runtime in it took over."""

    def __init__(self, folder: Path) -> None:
        (folder / ".octo").mkdir()
        self.folder = folder
        self.taken: list[Place] = []
        self.environ = {"OCTO_WORKSPACE": str(folder), "OCTO_HOME": str(folder / "data")}
        self.environ[VARIABLE] = "1"

    def write(self, values: Any) -> None:
        text = values if isinstance(values, str) else json.dumps(values)
        (self.folder / ".octo" / "config.json").write_text(text)

    def reloader(self) -> Reloader:
        return Reloader(find_place(self.folder, self.environ), self.taken.append)


@pytest.fixture
def workspace(tmp_path: Path) -> Workspace:
    return Workspace(tmp_path)


def test_nothing_is_read_while_nothing_changes(workspace: Workspace) -> None:
    workspace.write({"model": "offline"})
    reloader = workspace.reloader()

    assert (reloader.news(), reloader.news(), workspace.taken) == ("", "", [])


def test_what_can_change_is_taken_over_in_silence(workspace: Workspace) -> None:
    reloader = workspace.reloader()
    workspace.write({"model": "offline", "tools": {"deny": ["grep"]}, "limits": {"seconds": 5}})

    assert reloader.news() == ""
    (place,) = workspace.taken
    assert place.settings.model == "offline"
    assert place.settings.tools.deny == ("grep",)
    assert place.settings.limits.seconds == 5


def test_what_needs_a_restart_is_told_once(workspace: Workspace) -> None:
    reloader = workspace.reloader()
    workspace.write({"model": "offline", "gateway": {"port": 1234}, "session": {"workers": 3}})

    assert (
        reloader.news() == "Restart the kernel or gateway to apply: gateway.port, session.workers"
    )
    assert reloader.news() == ""
    assert len(workspace.taken) == 1


def test_a_bad_file_leaves_the_former_settings_and_is_told_once(workspace: Workspace) -> None:
    workspace.write({"model": "offline"})
    reloader = workspace.reloader()
    workspace.write('{"model": ')

    told = reloader.news()
    assert told.startswith("The changed settings are not used, the former ones stay: ")
    assert "config.json" in told
    assert (reloader.news(), workspace.taken) == ("", [])
    workspace.write({"model": "offline/helper"})
    assert (reloader.news(), len(workspace.taken)) == ("", 1)


def test_a_changed_dotenv_is_read_and_the_process_goes_before_it(workspace: Workspace) -> None:
    workspace.environ["A_KEY"] = "process"
    reloader = workspace.reloader()
    (workspace.folder / ".env").write_text("A_KEY=file\nB_KEY=file\n")

    assert reloader.news() == ""
    environ = workspace.taken[0].environ
    assert (environ["A_KEY"], environ["B_KEY"]) == ("process", "file")


def test_variables_of_the_process_are_live(workspace: Workspace) -> None:
    place = find_place(workspace.folder, workspace.environ)
    workspace.environ["LATER"] = "here"

    assert place.environ["LATER"] == "here"
