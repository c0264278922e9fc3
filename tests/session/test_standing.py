from __future__ import annotations

from pathlib import Path

import pytest

from octo_lab.core.errors import StorageError
from octo_lab.session.standing import ALLOWED_FILE, Standing, open_standing

pytestmark = pytest.mark.anyio


async def test_what_is_allowed_for_good_is_there_after_a_restart_until_it_is_taken_back(
    tmp_path: Path,
) -> None:
    first = await open_standing(tmp_path, Path("/w"))
    await first.add(["shell: git status", "python"])
    second = await open_standing(tmp_path, Path("/w"))
    taken = [await second.remove("python"), await second.remove("python")]
    third = await open_standing(tmp_path, Path("/w"))

    assert second.scopes == third.scopes == ("shell: git status",)
    assert taken == [True, False]


async def test_workspaces_that_share_a_folder_share_no_grants(tmp_path: Path) -> None:
    here, there = [await open_standing(tmp_path, Path(name)) for name in ("/here", "/there")]
    await here.add(["python"])
    await there.add(["shell: make test"])

    assert (await open_standing(tmp_path, Path("/here"))).scopes == ("python",)
    assert (await open_standing(tmp_path, Path("/there"))).scopes == ("shell: make test",)


@pytest.mark.parametrize(
    "text", ["", "{", "[]", '"x"', '{"/w": "python"}', '{"/w": [1, null]}', '{"/x": ["python"]}']
)
async def test_a_file_that_cannot_be_read_allows_nothing(tmp_path: Path, text: str) -> None:
    (tmp_path / ALLOWED_FILE).write_text(text)

    assert (await open_standing(tmp_path, Path("/w"))).scopes == ()


async def test_what_cannot_be_kept_is_not_allowed(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    standing = Standing(tmp_path / "file" / ALLOWED_FILE, "/w")

    with pytest.raises(StorageError, match="could not be kept"):
        await standing.add(["python"])
    assert standing.scopes == ()
