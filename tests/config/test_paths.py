from __future__ import annotations

from pathlib import Path

import platformdirs

from octo_lab.config.paths import data_folder, find_workspace, user_folder


def test_the_variable_names_the_workspace(tmp_path: Path) -> None:
    environ = {"OCTO_WORKSPACE": str(tmp_path / "there")}
    assert find_workspace(tmp_path, environ) == tmp_path / "there"


def test_else_it_is_the_nearest_parent_with_an_octo_folder(tmp_path: Path) -> None:
    deep = tmp_path / "a" / "b" / "c"
    deep.mkdir(parents=True)
    (tmp_path / ".octo").mkdir()
    assert find_workspace(deep, {}) == tmp_path
    (tmp_path / "a" / ".octo").mkdir()
    assert find_workspace(deep, {}) == tmp_path / "a"
    assert find_workspace(tmp_path / "a", {"OCTO_WORKSPACE": ""}) == tmp_path / "a"


def test_else_it_is_the_folder_itself(tmp_path: Path) -> None:
    (tmp_path / ".octo").write_text("a file is no folder")
    assert find_workspace(tmp_path, {}) == tmp_path


def test_a_workspace_reached_through_a_link_is_the_same_workspace(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "real")
    assert find_workspace(tmp_path / "link", {}) == tmp_path / "real"


def test_the_variable_names_the_data_folder(tmp_path: Path) -> None:
    (tmp_path / ".octo").mkdir()
    assert data_folder(tmp_path, {"OCTO_HOME": str(tmp_path / "x")}, known=True) == tmp_path / "x"


def test_else_data_lies_in_the_workspace_if_the_person_set_it_up(tmp_path: Path) -> None:
    (tmp_path / ".octo").mkdir()
    assert data_folder(tmp_path, {}, known=True) == tmp_path / ".octo"
    assert data_folder(tmp_path, {}, known=False) != tmp_path / ".octo"


def test_else_data_lies_in_the_folder_of_the_user(tmp_path: Path) -> None:
    folder = platformdirs.user_data_path("octo_lab", appauthor=False)
    assert data_folder(tmp_path, {}, known=True) == folder
    assert user_folder() == platformdirs.user_config_path("octo_lab", appauthor=False)


def test_an_octo_folder_that_nobody_may_open_is_none(tmp_path: Path) -> None:
    (tmp_path / ".octo").mkdir(mode=0)

    assert find_workspace(tmp_path, {}) == tmp_path
    assert data_folder(tmp_path, {}, known=True) != tmp_path / ".octo"
