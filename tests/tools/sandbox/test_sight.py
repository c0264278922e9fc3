"""What commands see of this machine, and what they never do."""

from __future__ import annotations

from pathlib import Path

import pytest

from octo_lab.core.errors import ToolFailed
from octo_lab.tools.sandbox.sight import Sight, find_sight


@pytest.fixture
def home(tmp_path: Path) -> Path:
    for name in ("home/.ssh", "home/work/.octo", "home/py", "home/data", "home/.aws"):
        (tmp_path / name).mkdir(parents=True)
    (tmp_path / "home" / ".netrc").touch()
    return tmp_path / "home"


def test_a_workspace_in_the_home_folder_shows_itself_alone(home: Path) -> None:
    sight = find_sight(
        home / "work",
        private=(home / "data",),
        readable=(home / "gone", home / "py"),
        home=home,
        prefixes=("/usr",),
    )

    assert sight == Sight(
        workspace=home / "work",
        readable=(home / "py",),
        fixed=(),
        hidden_folders=(home / "work" / ".octo",),
        hidden_files=(),
    )


def test_python_s_own_environment_in_the_workspace_is_only_read(home: Path) -> None:
    (home / "work" / ".venv").mkdir()
    prefixes = (str(home / "work" / ".venv"), str(home / "py"), str(home / "work" / "gone"))

    sight = find_sight(home / "work", private=(), home=home, prefixes=prefixes)

    assert (sight.readable, sight.fixed) == ((home / "py",), (home / "work" / ".venv",))


def test_keys_below_what_is_shown_are_hidden(home: Path) -> None:
    sight = find_sight(home, private=(home / "data",), home=home, prefixes=())

    assert sight.hidden_folders == (home / ".ssh", home / ".aws", home / "data")
    assert sight.hidden_files == (home / ".netrc",)


def test_what_starts_programs_is_only_read_where_the_home_folder_is_open(home: Path) -> None:
    (home / "dots").mkdir()
    (home / "dots" / "profile").write_text("")
    (home / ".profile").symlink_to(home / "dots" / "profile")
    (home / ".bashrc").write_text("")
    (home / ".ipython").mkdir(exist_ok=True)
    (home / ".cache").mkdir()

    within = find_sight(home / "work", private=(), home=home, prefixes=())
    at_home = find_sight(home, private=(), home=home, prefixes=())

    started = {home / ".bashrc", home / "dots" / "profile", home / ".ipython"}
    assert not started & set(within.fixed)
    assert started <= set(at_home.fixed)
    assert home / ".cache" not in at_home.fixed


def test_a_private_folder_behind_a_link_is_hidden_where_it_is(home: Path) -> None:
    (home / "work" / "state").mkdir()
    (home / "link").symlink_to(home / "work" / "state")
    (home / "work" / ".octo").rmdir()
    (home / "work" / ".octo").symlink_to("elsewhere")
    (home / "work" / "elsewhere").mkdir()

    sight = find_sight(home / "work", private=(home / "link",), home=home, prefixes=())

    assert sight.hidden_folders == (home / "work" / "elsewhere", home / "work" / "state")


def test_a_linked_workspace_is_the_folder_it_leads_to(home: Path) -> None:
    (home / "here").symlink_to(home / "work")

    sight = find_sight(home / "here", private=(), home=home, prefixes=())

    assert sight.workspace == home / "work"


@pytest.mark.parametrize("readable", ["/", "/etc", "/proc", "/dev", "/run"])
def test_what_would_show_everything_is_not_shown(home: Path, readable: str) -> None:
    sight = find_sight(
        home / "work", private=(), readable=(Path(readable),), home=home, prefixes=("/",)
    )

    assert sight.readable == ()


@pytest.mark.parametrize("workspace", ["/", "/etc", "/usr", "/proc", "/dev"])
def test_no_command_runs_in_the_system_s_own_folders(home: Path, workspace: str) -> None:
    with pytest.raises(ToolFailed, match="the whole system lies in it"):
        find_sight(Path(workspace), private=(), home=home)
