"""The owner's notes for the agent are files of the workspace, whatever a repository holds."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from octo_lab.session.prompt_files import PromptFiles

pytestmark = pytest.mark.anyio


async def test_a_note_is_read_anew_when_it_has_changed(tmp_path: Path) -> None:
    files = PromptFiles(tmp_path)
    (tmp_path / "AGENTS.md").write_text("one")
    first = await files.texts()
    (tmp_path / "AGENTS.md").write_text("two, longer")

    assert (first, await files.texts()) == ({"project": "one"}, {"project": "two, longer"})


async def test_a_note_may_be_another_name_of_one_in_the_workspace(tmp_path: Path) -> None:
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "rules.md").write_text("rules")
    (tmp_path / "CLAUDE.md").symlink_to("docs/rules.md")

    assert await PromptFiles(tmp_path).texts() == {"project": "rules"}


@pytest.mark.parametrize("name", ["AGENTS.md", "CLAUDE.md", ".octo/persona.md", ".octo/user.md"])
async def test_a_link_shows_nothing_that_lies_outside_or_is_secret(
    tmp_path: Path, name: str
) -> None:
    workspace, key = tmp_path / "work", tmp_path / "id_rsa"
    (workspace / ".octo").mkdir(parents=True)
    key.write_text("secret")
    (workspace / ".env").write_text("secret")
    files = PromptFiles(workspace)

    for target in (key, workspace / ".env"):
        (workspace / name).symlink_to(target)
        assert await files.texts() == {}
        (workspace / name).unlink()


async def test_a_folder_that_is_a_link_leads_nowhere(tmp_path: Path) -> None:
    workspace, other = tmp_path / "work", tmp_path / "other"
    workspace.mkdir()
    other.mkdir()
    (other / "persona.md").write_text("secret")
    (workspace / ".octo").symlink_to(other)

    assert await PromptFiles(workspace).texts() == {}


async def test_a_pipe_is_no_note(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "AGENTS.md")

    assert await PromptFiles(tmp_path).texts() == {}
