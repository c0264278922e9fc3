"""Where the person types: several lines, slash commands completed."""

from __future__ import annotations

from collections.abc import Sequence

from textual import events
from textual.app import ComposeResult
from textual.containers import Vertical
from textual.message import Message
from textual.widgets import OptionList, TextArea
from textual.widgets.option_list import Option

from octo_lab.core.replies import CommandInfo


class PromptArea(TextArea):
    """Enter sends, Ctrl-J or Shift-Enter begins a line; Tab completes a command."""

    class Sent(Message):
        def __init__(self, text: str) -> None:
            super().__init__()
            self.text = text

    class Completing(Message):
        """Take the highlighted command, or move the highlight by ``step``."""

        def __init__(self, step: int) -> None:
            super().__init__()
            self.step = step

    async def _on_key(self, event: events.Key) -> None:
        if not self._handle(event.key):
            await super()._on_key(event)
            return
        event.stop()
        event.prevent_default()

    def _handle(self, key: str) -> bool:
        match key:
            case "enter":
                self.post_message(self.Sent(self.text))
            case "shift+enter" | "ctrl+j":
                self.insert("\n")
            case "tab" if self.completing:
                self.post_message(self.Completing(0))
            case "up" | "down" if self.completing:
                self.post_message(self.Completing(1 if key == "down" else -1))
            case _:
                return False
        return True

    @property
    def completing(self) -> bool:
        return self.text.startswith("/") and " " not in self.text and "\n" not in self.text


class PromptBox(Vertical):
    """The prompt with the commands that fit what is typed so far above it."""

    def __init__(self) -> None:
        super().__init__(id="prompt-box")
        self.commands: Sequence[CommandInfo] = ()

    def compose(self) -> ComposeResult:
        yield OptionList(id="completions", markup=False)
        yield PromptArea(id="prompt", placeholder="Ask, or / for commands", compact=True)

    @property
    def area(self) -> PromptArea:
        return self.query_one(PromptArea)

    @property
    def _list(self) -> OptionList:
        return self.query_one(OptionList)

    def on_mount(self) -> None:
        self._list.display = False
        self._list.can_focus = False

    def on_text_area_changed(self) -> None:
        fitting = self._fitting() if self.area.completing else []
        self._list.set_options(
            Option(f"{info.usage}  {info.summary}", id=info.name) for info in fitting
        )
        self._list.display = bool(fitting)
        if fitting:
            self._list.highlighted = 0

    def on_prompt_area_completing(self, event: PromptArea.Completing) -> None:
        event.stop()
        count, at = self._list.option_count, self._list.highlighted
        if not count or at is None:
            return
        if event.step:
            self._list.highlighted = (at + event.step) % count
        else:
            self._complete(str(self._list.get_option_at_index(at).id))

    def on_option_list_option_selected(self, event: OptionList.OptionSelected) -> None:
        event.stop()
        self._complete(str(event.option.id))

    def _complete(self, name: str) -> None:
        self.area.text = f"/{name} "
        self.area.move_cursor(self.area.document.end)
        self.area.focus()

    def _fitting(self) -> list[CommandInfo]:
        typed = self.area.text[1:].lower()
        return [
            info
            for info in self.commands
            if any(name.startswith(typed) for name in (info.name, *info.aliases))
        ]
