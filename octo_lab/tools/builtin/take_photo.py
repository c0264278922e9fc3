"""The tool ``take_photo``: what the camera of this machine sees."""

from __future__ import annotations

from functools import partial

from pydantic import BaseModel, ConfigDict

from octo_lab.core.messages import Media
from octo_lab.tools.camera import SECONDS, photo
from octo_lab.tools.model_tool import model_tool
from octo_lab.tools.policy import OWNED
from octo_lab.tools.powers import Powers
from octo_lab.tools.tool import Tool, ToolContext, ToolResult


class TakePhotoArgs(BaseModel):
    """Takes nothing."""

    model_config = ConfigDict(extra="forbid")


async def take_photo(powers: Powers, ctx: ToolContext, args: TakePhotoArgs) -> ToolResult:
    """Take one photo with the camera of the machine that octo_lab runs on."""
    data = await photo(powers.camera, powers.environ)
    picture = Media(mime="image/jpeg", data=data, name="photo.jpg")
    return ToolResult(text=f"A photo of {len(data):,} bytes.", media=(picture,))


def tool(powers: Powers) -> Tool:
    return model_tool(
        partial(take_photo, powers),
        TakePhotoArgs,
        name="take_photo",
        group="media",
        source="private",
        risk="execute",
        asks=True,
        channels=OWNED,
        detail=lambda args: "a photo with this machine's camera",
        timeout=SECONDS + 5.0,
        missing=powers.camera.missing,
    )
