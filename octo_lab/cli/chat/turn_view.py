"""Draws one turn: each block once, and then only what is new in it."""

from __future__ import annotations

import webbrowser

from rich.text import Text
from textual import on
from textual.containers import Vertical
from textual.widget import Widget
from textual.widgets import Markdown, Static

from octo_lab.cli.chat.approval import ApprovalBar
from octo_lab.cli.printer import printable
from octo_lab.core.text import first_line, head_and_tail
from octo_lab.core.turns import (
    Block,
    ErrorBlock,
    NoticeBlock,
    ReasoningBlock,
    TextBlock,
    ToolBlock,
    TurnSnapshot,
)

_STATES = {
    "queued": "…",
    "asking": "?",
    "running": "→",
    "ok": "✓",
    "error": "✗",
    "denied": "✗",
    "cancelled": "✗",
}
_COLOURS = {"+": "green", "-": "red", "@": "cyan"}
_DIFF = 6_000
_ENDS = {"cancelled": "stopped", "interrupted": "interrupted"}


class TurnView(Vertical):
    """A prompt and what came of it. Older snapshots than the one shown are ignored."""

    def __init__(self, turn: TurnSnapshot) -> None:
        super().__init__(id=f"turn-{turn.turn_id}", classes="turn")
        self.revision = -1
        self._first = turn
        self._blocks: list[Block] = []
        self._widgets: list[Widget] = []
        self._end: Static | None = None

    async def on_mount(self) -> None:
        await self.mount(_plain(f"> {self._first.prompt}", "prompt"))
        await self.show(self._first)

    async def show(self, turn: TurnSnapshot) -> None:
        if turn.revision <= self.revision:
            return
        self.revision = turn.revision
        for widget in self._widgets[len(turn.blocks) :]:
            await widget.remove()
        del self._widgets[len(turn.blocks) :], self._blocks[len(turn.blocks) :]
        for index, block in enumerate(turn.blocks):
            await self._show_block(index, block)
        if turn.state in _ENDS and self._end is None:
            self._end = _plain(f"· {_ENDS[turn.state]}", "notice")
            await self.mount(self._end)

    async def _show_block(self, index: int, block: Block) -> None:
        if index == len(self._blocks):
            self._blocks.append(block)
            self._widgets.append(_widget(block))
            await self.mount(self._widgets[index])
            await self._fill(index, block)
        elif block != self._blocks[index]:
            await self._change(index, block)
            self._blocks[index] = block

    async def _change(self, index: int, block: Block) -> None:
        match self._widgets[index], self._blocks[index], block:
            case Markdown() as markdown, TextBlock(old), TextBlock(new) if new.startswith(old):
                await markdown.append(printable(new[len(old) :]))
            case Static() as static, _, ReasoningBlock() | NoticeBlock() | ErrorBlock():
                static.update(_text(block))
            case ToolView() as tool, _, ToolBlock():
                await tool.show(block)
            case old_widget, _, _:
                self._widgets[index] = _widget(block)
                await self.mount(self._widgets[index], after=old_widget)
                await self._fill(index, block)
                await old_widget.remove()

    async def _fill(self, index: int, block: Block) -> None:
        """Markdown is appended from its first word on: it loses what it was made with."""
        widget = self._widgets[index]
        if isinstance(widget, Markdown) and isinstance(block, TextBlock):
            await widget.append(printable(block.text))

    @on(Markdown.LinkClicked)
    def open_link(self, event: Markdown.LinkClicked) -> None:
        """Only the web: a model's link must not open files or programs."""
        event.prevent_default()
        if event.href.startswith(("https://", "http://")):
            webbrowser.open(event.href)


class ToolView(Vertical):
    """A tool call in one line, its output's first line, and the question while it asks."""

    def __init__(self, block: ToolBlock) -> None:
        super().__init__(classes="tool")
        self._block = block
        self._bar: ApprovalBar | None = None
        self._diff = ""

    async def on_mount(self) -> None:
        await self.mount(_plain("", "line"))
        await self.show(self._block)

    async def show(self, block: ToolBlock) -> None:
        self.query_one(".line", Static).update(_text(block))
        if block.diff and block.diff != self._diff:
            self._diff = block.diff
            await self.mount(Static(_diff(block.diff), classes="diff", markup=False))
        if block.state == "asking" and self._bar is None:
            self._bar = ApprovalBar(block)
            await self.mount(self._bar)
        elif block.state != "asking" and self._bar is not None:
            await self._bar.remove()
            self._bar = None


def _widget(block: Block) -> Widget:
    match block:
        case TextBlock():
            return Markdown(open_links=False)
        case ToolBlock():
            return ToolView(block)
        case ReasoningBlock():
            return _plain(_text(block), "reasoning")
        case NoticeBlock():
            return _plain(_text(block), "notice")
        case ErrorBlock():
            return _plain(_text(block), "error")


def _text(block: Block) -> str:
    match block:
        case NoticeBlock(text):
            return printable(f"· {text}")
        case ErrorBlock(message, hint):
            return printable(f"✗ {message}" + (f"\n  {hint}" if hint else ""))
        case ToolBlock():
            return printable(_tool_line(block))
        case ReasoningBlock(text) | TextBlock(text):
            return printable(text)


def _tool_line(block: ToolBlock) -> str:
    seconds = f" ({block.seconds:.1f} s)" if block.seconds is not None else ""
    call = f"{_STATES[block.state]} {block.name} {first_line(block.arguments, 100)}{seconds}"
    output = first_line(block.output.removeprefix("[stderr]\n"), 100)
    return f"{call}\n  {output}" if output else call


def _diff(diff: str) -> Text:
    """What a call changed, with the colours of the terminal."""
    shown = head_and_tail(diff.strip("\n"), _DIFF)
    lines = (Text(printable(line), _COLOURS.get(line[:1], "dim")) for line in shown.split("\n"))
    return Text("\n").join(lines)


def _plain(text: str, kind: str) -> Static:
    return Static(printable(text), classes=kind, markup=False)
