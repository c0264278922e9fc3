"""The bridge to the built front end: one anywidget per view, messages as JSON."""

from __future__ import annotations

from collections.abc import Callable
from contextvars import copy_context
from functools import cache
from pathlib import Path
from typing import Any, Literal

from octo_lab.core.frames import Json

View = Literal["turn", "chat"]
VIEW_MIME = "application/vnd.jupyter.widget-view+json"
_STATIC = Path(__file__).parent.parent / "static"


class Widget:
    """One open view. Both methods may be called from any thread.

    Messages leave under the context (the cell) the widget was opened in.
    """

    def __init__(self, view: View, on_message: Callable[[Json], None]) -> None:
        self._context = copy_context()
        self._model = _model_class(view)()
        self._model.on_msg(lambda _, content, __: on_message(content))
        _answer_on_the_asking_shell(self._model.comm)

    @property
    def view(self) -> Json:
        """What a display bundle carries under ``VIEW_MIME``."""
        return {"version_major": 2, "version_minor": 0, "model_id": self._model.model_id}

    def send(self, frame: Json) -> None:
        self._context.copy().run(self._model.send, frame)

    def close(self) -> None:
        self._context.copy().run(self._model.close)


def is_built(view: View) -> bool:
    """Whether the front end was built; without it the static rendering is all there is."""
    return (_STATIC / f"{view}.js").is_file()


@cache
def _model_class(view: View) -> Any:
    import anywidget  # slow to import, needed once something is shown live
    import traitlets

    source = (_STATIC / f"{view}.js").read_text(encoding="utf-8")
    sheet = _STATIC / f"{view}.css"
    style = sheet.read_text(encoding="utf-8") if sheet.is_file() else ""
    members = {
        "_esm": traitlets.Unicode(source).tag(sync=True),
        "_css": traitlets.Unicode(style).tag(sync=True),
    }
    return type(f"Octo{view.title()}", (anywidget.AnyWidget,), members)


def _answer_on_the_asking_shell(comm: Any) -> None:
    """Let a click be handled on the subshell it arrived on.

    ipykernel 7.4 sends it to the shell that published last, which in a blocking cell is the
    one that is blocked: a Stop button would be dead until the cell ends.
    """
    if hasattr(comm, "_reply_subshell_for"):
        comm._reply_subshell_for = lambda _, default: default
