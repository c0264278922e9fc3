from __future__ import annotations

import os
from pathlib import Path

import pytest

from octo_lab.core.errors import ToolFailed
from octo_lab.core.messages import Media
from octo_lab.security.net.client import GuardedClient
from octo_lab.tools.builtin.take_photo import tool
from octo_lab.tools.camera import Camera, find_camera, photo
from octo_lab.tools.powers import Powers
from octo_lab.tools.tool import ToolContext, ToolResult
from tests.tools.web.conftest import NoPrograms

pytestmark = pytest.mark.anyio

JPEG = b"\xff\xd8\xff\xe0picture"


def program(folder: Path, script: str) -> str:
    """A program in place of ffmpeg."""
    file = folder / "ffmpeg"
    file.write_text(f"#!/bin/sh\n{script}\n")
    file.chmod(0o755)
    return str(file)


@pytest.fixture
def ffmpeg(tmp_path: Path) -> Camera:
    says = (
        f'echo "$@" > {tmp_path}/asked; env > {tmp_path}/env; printf "\\377\\330\\377\\340picture"'
    )
    return Camera(program=program(tmp_path, says), source=("-f", "v4l2", "-i", "/dev/video0"))


async def test_a_photo_is_taken_with_one_frame(
    ffmpeg: Camera, ctx: ToolContext, tmp_path: Path
) -> None:
    environ = {"PATH": os.environ["PATH"], "MY_TOKEN": "abcdefgh"}
    powers = Powers(exec=NoPrograms(), web=GuardedClient(), environ=environ, camera=ffmpeg)
    made = tool(powers)
    result = await made.run(ctx, made.parse({}))
    assert result == ToolResult(
        text="A photo of 11 bytes.", media=(Media(mime="image/jpeg", data=JPEG, name="photo.jpg"),)
    )
    asked = (tmp_path / "asked").read_text()
    assert "-f v4l2 -i /dev/video0" in asked
    assert "-frames:v 1" in asked
    assert "MY_TOKEN" not in (tmp_path / "env").read_text()


async def test_a_camera_that_fails_says_why(tmp_path: Path) -> None:
    camera = Camera(program=program(tmp_path, "echo 'video0: busy' >&2; exit 1"))
    with pytest.raises(ToolFailed, match="no picture: video0: busy"):
        await photo(camera, {"PATH": os.environ["PATH"]})


def test_without_a_camera_it_is_not_offered_and_says_so(tmp_path: Path) -> None:
    camera = find_camera(tmp_path, "linux")
    assert camera == Camera(missing="this machine has no camera")
    made = tool(Powers(exec=NoPrograms(), web=GuardedClient(), camera=camera))
    assert not made.offered_to("notebook")
    assert (made.asks, made.source, made.offered_to("telegram")) == (True, "private", False)


def test_the_first_camera_is_taken(tmp_path: Path) -> None:
    for name in ("video2", "video0", "vcs"):
        (tmp_path / name).touch()
    program(tmp_path, "exit 1")
    assert find_camera(tmp_path, "linux", str(tmp_path)).source == (
        "-f",
        "v4l2",
        "-i",
        str(tmp_path / "video0"),
    )
    assert find_camera(tmp_path, "linux", "/nowhere").missing.startswith("ffmpeg was not found")
