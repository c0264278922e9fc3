from __future__ import annotations

from pathlib import Path

import pytest

from octo_lab.config.paths import user_folder
from octo_lab.config.place import find_place, private_folders
from octo_lab.config.trust import VARIABLE
from octo_lab.core.errors import ConfigError


def test_a_place_is_the_workspace_around_a_folder(tmp_path: Path) -> None:
    below = tmp_path / "deep"
    below.mkdir()
    (tmp_path / ".octo").mkdir()
    (tmp_path / ".env").write_text("KEY=secret-value")
    place = find_place(below, {"HOME": str(tmp_path), VARIABLE: "1"})
    assert (place.workspace, place.data_folder) == (tmp_path, tmp_path / ".octo")
    assert place.environ["KEY"] == "secret-value"
    assert "secret-value" not in repr(place)


def test_a_config_file_may_be_named_and_must_exist(tmp_path: Path) -> None:
    config = tmp_path / "mine.json"
    with pytest.raises(ConfigError, match=r"mine\.json"):
        find_place(tmp_path, {}, config=config)
    config.write_text('{"model": "openai/mine"}')
    assert find_place(tmp_path, {}, config=config).settings.model == "openai/mine"


def test_a_folder_that_does_not_exist_is_no_place(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="gone"):
        find_place(tmp_path / "gone", {})
    with pytest.raises(ConfigError, match="gone"):
        find_place(tmp_path, {"OCTO_WORKSPACE": str(tmp_path / "gone")})


def test_the_folder_of_the_users_keys_and_settings_is_private_too(tmp_path: Path) -> None:
    assert private_folders(tmp_path) == (tmp_path, user_folder())
