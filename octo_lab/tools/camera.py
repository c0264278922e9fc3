"""The camera of this machine: one frame of it, taken by ffmpeg."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from subprocess import DEVNULL, PIPE

import anyio

from octo_lab.core.errors import ToolFailed
from octo_lab.security.env import clean_environ

SECONDS = 15.0
LARGEST = 5_000_000
_ERROR = 4_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Camera:
    """``missing`` says what is not there; empty when a photo may be tried."""

    program: str = ""
    source: tuple[str, ...] = ()
    missing: str = ""


def find_camera(
    devices: Path = Path("/dev"), platform: str = sys.platform, path: str | None = None
) -> Camera:
    """Blocks: it looks at files. On macOS whether there is a camera shows only when it is used.

    ``path`` is where ffmpeg is looked for, as in ``PATH`` (None: that of this process).
    """
    program = shutil.which("ffmpeg", path=path) or ""
    if platform == "darwin":
        source: tuple[str, ...] = ("-f", "avfoundation", "-framerate", "30", "-i", "0")
    else:
        found = sorted(devices.glob("video[0-9]*"))
        if not found:
            return Camera(missing="this machine has no camera")
        source = ("-f", "v4l2", "-i", str(found[0]))
    if not program:
        return Camera(missing="ffmpeg was not found: install it, as with apt install ffmpeg")
    return Camera(program=program, source=source)


async def photo(camera: Camera, environ: Mapping[str, str]) -> bytes:
    """A JPEG. Raises ToolFailed when the camera gives none."""
    if camera.missing:
        raise ToolFailed(f"No photo can be taken: {camera.missing}")
    # A camera needs some frames to find its exposure.
    taking = ("-vf", "select=gte(n\\,5)", "-frames:v", "1", "-f", "mjpeg", "pipe:1")
    argv = [camera.program, "-nostdin", "-v", "error", *camera.source, *taking]
    try:
        with anyio.fail_after(SECONDS):
            ran = await anyio.run_process(
                argv,
                stdin=DEVNULL,
                stdout=PIPE,
                stderr=PIPE,
                check=False,
                env=clean_environ(environ),
            )
    except TimeoutError:
        raise ToolFailed(f"The camera gave no picture within {SECONDS:g} s") from None
    except OSError as exc:
        raise ToolFailed(f"ffmpeg could not be started: {exc.strerror}") from exc
    if ran.returncode or not ran.stdout.startswith(b"\xff\xd8"):
        said = ran.stderr[:_ERROR].decode(errors="replace").strip().splitlines()
        raise ToolFailed(f"The camera gave no picture: {(said or ['ffmpeg said nothing'])[-1]}")
    if len(ran.stdout) > LARGEST:
        raise ToolFailed("The picture is too large")
    return ran.stdout
