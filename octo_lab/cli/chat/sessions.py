"""The list of sessions to go to."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from textual.app import ComposeResult
from textual.containers import Vertical
from textual.screen import ModalScreen
from textual.widgets import OptionList, Static
from textual.widgets.option_list import Option

from octo_lab.cli.printer import printable
from octo_lab.core.replies import SessionInfo


class SessionScreen(ModalScreen[str | None]):
    """Ends with the chosen session's key, or None."""

    BINDINGS: ClassVar = [("escape", "dismiss(None)", "Back")]

    def __init__(self, sessions: Sequence[SessionInfo]) -> None:
        super().__init__()
        self._sessions = sessions

    def compose(self) -> ComposeResult:
        with Vertical(id="sessions"):
            yield Static("Sessions · Enter goes there · Esc goes back", markup=False)
            yield OptionList(*map(_option, self._sessions), markup=False)

    def on_option_list_option_selected(self, event: OptionList.OptionSelected) -> None:
        self.dismiss(event.option.id)


def _option(info: SessionInfo) -> Option:
    used = info.updated_at.astimezone().strftime("%Y-%m-%d %H:%M")
    mark = "*" if info.current else " "
    title = printable(info.title) or "(no title)"
    return Option(f"{mark} {used}  {info.turns:>3} turns  {title}", id=info.session)
