"""The tools that work on the conversation itself: ``send_file`` and ``switch_model``."""

from __future__ import annotations

import mimetypes
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, replace

import anyio.to_thread
from pydantic import BaseModel, ConfigDict, Field

from octo_lab.core.errors import DeliveryError, OctoError, Rejected, ToolDenied, ToolFailed
from octo_lab.core.keys import ChatAddress
from octo_lab.core.mail import OutboundMessage
from octo_lab.core.messages import Media
from octo_lab.core.text import clean, first_line
from octo_lab.session.model_choice import ModelChoices
from octo_lab.tools.call import CallBounds
from octo_lab.tools.model_tool import model_tool
from octo_lab.tools.nearby import naming_near
from octo_lab.tools.policy import OWNED
from octo_lab.tools.tool import Tool, ToolContext, ToolResult
from octo_lab.tools.workspace import decode, files_of, read_bytes, size_words

DELIVERY_SECONDS = 90.0
MOST_KEPT = CallBounds().media  # bytes of a file that stay with its turn


class SendFileArgs(BaseModel):
    model_config = ConfigDict(extra="forbid")

    path: str = Field(min_length=1, max_length=4000, description="A file of the workspace.")
    caption: str = Field(default="", max_length=1000, description="A line to go with it.")


class SwitchModelArgs(BaseModel):
    model_config = ConfigDict(extra="forbid")

    model: str = Field(
        min_length=1, max_length=200, description="provider/model, or default for the usual one."
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionTools:
    """``deliver`` brings a message to its channel, or raises DeliveryError or Rejected.

    ``largest`` tells of a channel how many bytes a file may have there; 0: none can be sent.
    """

    deliver: Callable[[OutboundMessage], Awaitable[None]]
    largest: Callable[[str], int]
    choices: ModelChoices

    def tools(self) -> tuple[Tool, ...]:
        return (
            model_tool(
                self.send_file,
                SendFileArgs,
                name="send_file",
                group="sessions",
                source="workspace",
                risk="network",
                local=OWNED,
                detail=lambda args: args.path,
                timeout=DELIVERY_SECONDS + 30.0,
            ),
            model_tool(
                self.switch_model,
                SwitchModelArgs,
                name="switch_model",
                group="sessions",
                source="own",
                risk="write",
                asks=True,
                channels=OWNED,
                detail=lambda args: args.model,
                scopes=lambda args, workspace: (args.model,),
                timeout=60.0,
            ),
        )

    async def send_file(self, ctx: ToolContext, args: SendFileArgs) -> ToolResult:
        """Send a file of the workspace to the person in this chat, to look at or to keep."""
        largest = self.largest(ctx.channel)
        if not largest:
            raise ToolFailed(
                f"The channel {ctx.channel!r} cannot show files",
                hint="say where the file is, or tell what is in it",
            )
        media = await anyio.to_thread.run_sync(_media, ctx, args.path, largest)
        size = size_words(len(media.data))
        caption = first_line(clean(args.caption), 1000)
        text = f"{caption + ': ' if caption else ''}{media.name} ({size})"
        address = ChatAddress(channel=ctx.channel, chat_id=ctx.chat_id)
        message = OutboundMessage(address=address, text=text, media=(media,), turn_id=ctx.turn_id)
        try:
            await self.deliver(message)
        except (DeliveryError, Rejected) as exc:
            raise ToolFailed(f"{args.path!r} was not sent: {exc}") from exc
        kept = (replace(media, sent=True),) if len(media.data) <= MOST_KEPT else ()
        return ToolResult(text=f"Sent {media.name!r} ({size}, {media.mime}).", media=kept)

    async def switch_model(self, ctx: ToolContext, args: SwitchModelArgs) -> str:
        """Let another model answer in this conversation, from the next step on."""
        turns = self.choices.workers.running
        turn = next((turn for turn in turns if turn.row.id == ctx.turn_id), None)
        if turn is None:
            raise ToolFailed("No turn is running here", hint="a person types `/model NAME`")
        try:
            chosen = await self.choices.chosen(args.model)
            return await self.choices.use(turn.job.session, args.model, chosen)
        except ToolFailed:
            raise
        except OctoError as exc:
            raise ToolFailed(exc.message, hint=exc.hint) from exc


def _media(ctx: ToolContext, path: str, largest: int) -> Media:
    """The file as it is; raises ToolFailed, ToolDenied for keys that would leave the machine."""
    files = files_of(ctx)
    with naming_near(files, path):
        data = read_bytes(files, path)
    if len(data) > largest:
        raise ToolFailed(f"{path!r} has {size_words(len(data))}, at most {size_words(largest)} go")
    text = decode(data) if ctx.channel not in OWNED else None
    if text is not None and ctx.screen.mask(text) != text:
        raise ToolDenied(f"{path!r} holds something that looks like a key")
    name = clean(path.rstrip("/").rpartition("/")[2]) or "file"
    mime = mimetypes.guess_type(name)[0] or "application/octet-stream"
    return Media(mime=mime, data=data, name=name)
