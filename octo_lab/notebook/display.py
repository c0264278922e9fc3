"""Shows one turn in the output of the cell that asked."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from typing import Protocol

from octo_lab.core.mail import Control
from octo_lab.core.turns import TurnSnapshot
from octo_lab.notebook.formats import SHAPED, shaped
from octo_lab.notebook.panels.live import LiveTurn, shape
from octo_lab.notebook.panels.output import Output
from octo_lab.notebook.panels.pace import Pace
from octo_lab.notebook.panels.widget import VIEW_MIME, is_built
from octo_lab.notebook.printed import Printed
from octo_lab.notebook.render import Bundle, render_turn

_KEPT_VIEWS = 8
_finished: deque[LiveTurn] = deque()


class Shown(Protocol):
    """A turn on display. One caller at a time; any thread; rendering costs CPU, no I/O wait."""

    @property
    def connected(self) -> bool:
        """Whether a front end shows it with buttons that work."""
        ...

    def update(self, turn: TurnSnapshot) -> None:
        """Show a running turn."""
        ...

    def finish(self, turn: TurnSnapshot) -> None:
        """Show the terminal snapshot; nothing follows."""
        ...


def open_display(
    turn: TurnSnapshot,
    *,
    headless: bool,
    on_control: Callable[[Control], None],
    form: str = "auto",
) -> Shown:
    """Begin to show ``turn`` under the running cell; call it in that cell's context.

    ``on_control`` is called from any thread when a person presses a button. ``headless``: one
    final output, no widget, nothing that differs from run to run. ``form`` is that of ``-f``,
    or ``terminal`` where nothing can be redrawn.
    """
    if form == "terminal":
        return Printed()
    if form in SHAPED:
        return _Shaped(turn, form, headless=headless)
    if headless:
        return _Final()
    if is_built("turn"):
        return _Live(turn, LiveTurn(turn, on_control))
    return _Static(turn)


class _Final:
    connected = False

    def __init__(self) -> None:
        self._output = Output()

    def update(self, turn: TurnSnapshot) -> None:
        """Nothing: the reader sees the end only."""

    def finish(self, turn: TurnSnapshot) -> None:
        self._output.put(dict(render_turn(turn, headless=True)), update=False)


class _Shaped:
    """In the format that was asked for; at the end each picture is an output of its own."""

    connected = False

    def __init__(self, turn: TurnSnapshot, form: str, *, headless: bool) -> None:
        self._form = form
        self._headless = headless
        self._output = Output()
        self._pace = Pace(0.5)
        if not headless:
            self._put(turn, update=False)

    def update(self, turn: TurnSnapshot) -> None:
        if not self._headless and self._pace.due:
            self._put(turn, update=True)

    def finish(self, turn: TurnSnapshot) -> None:
        for more in self._put(turn, update=not self._headless):
            Output().put(dict(more), update=False)

    def _put(self, turn: TurnSnapshot, *, update: bool) -> list[Bundle]:
        """Draw the first bundle; the others are left to the caller."""
        with self._pace.spend():
            first, *others = shaped(turn, self._form, headless=self._headless)
            self._output.put(dict(first), update=update)
        return others


class _Static:
    """Redraws the whole at an adaptive pace; a new block or state is shown at once."""

    connected = False

    def __init__(self, turn: TurnSnapshot) -> None:
        self._output = Output()
        self._pace = Pace(0.5)
        self._shown = turn
        self._output.put(dict(render_turn(turn)), update=False)

    def update(self, turn: TurnSnapshot) -> None:
        if self._pace.due or shape(self._shown) != shape(turn):
            self.finish(turn)

    def finish(self, turn: TurnSnapshot) -> None:
        with self._pace.spend():
            self._shown = turn
            self._output.put(dict(render_turn(turn)), update=True)


class _Live:
    """A live view while the turn runs; the static rendering takes its place at the end.

    Once a view is there the output is left alone until then: JupyterLab and Notebook build the
    view anew at each update, which closes what a person has opened and takes the focus away.
    """

    def __init__(self, turn: TurnSnapshot, live: LiveTurn) -> None:
        self._output = Output()
        self._live = live
        self._pace = Pace(2.0, share=0.02)
        self._put(turn, update=False)

    @property
    def connected(self) -> bool:
        return self._live.connected

    def update(self, turn: TurnSnapshot) -> None:
        self._live.show(turn)
        if not self._live.connected and self._pace.due:
            self._put(turn, update=True)

    def finish(self, turn: TurnSnapshot) -> None:
        self._live.show(turn)
        self._output.put(dict(render_turn(turn)), update=True)
        _retire(self._live)

    def _put(self, turn: TurnSnapshot, *, update: bool) -> None:
        """For a front end without widgets, which would else see nothing until the end."""
        with self._pace.spend():
            self._output.put({**render_turn(turn), VIEW_MIME: self._live.view}, update=update)


def _retire(live: LiveTurn) -> None:
    """Keep the last views open: a page reloaded during a turn still shows its widget."""
    _finished.append(live)
    while len(_finished) > _KEPT_VIEWS:
        _finished.popleft().close()
