"""The bridge to the built front end: one anywidget per view, messages as JSON."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from contextvars import copy_context
from functools import cache
from pathlib import Path
from typing import Any, Literal

from octo_lab.core.frames import Json

View = Literal["turn", "chat"]
VIEW_MIME = "application/vnd.jupyter.widget-view+json"
_STATIC = Path(__file__).parent.parent / "static"


_codes: dict[View, Any] = {}
_LOADER = """
const modules = (globalThis.octoLabModules ??= new Map());
async function loaded(model) {
  const holder = await model.widget_manager.get_model(model.get("code_model"));
  const blob = new Blob([holder.get("code")], { type: "text/javascript" });
  const url = URL.createObjectURL(blob);
  try { return await import(url); } finally { URL.revokeObjectURL(url); }
}
export default { async render(context) {
  const key = context.model.get("code_key");
  if (!modules.has(key)) modules.set(key, loaded(context.model));
  try {
    return (await modules.get(key)).default.render(context);
  } catch (error) {
    modules.delete(key);
    throw error;
  }
} };
"""
"""What each view carries: a page gets the code itself once from each kernel, not with each turn."""


class Widget:
    """One open view. Both methods may be called from any thread.

    Messages leave under the context (the cell) the widget was opened in.
    """

    def __init__(self, view: View, on_message: Callable[[Json], None]) -> None:
        self._context = copy_context()
        code = _code(view)
        self._model = _model_class(view)(code_model=code.model_id)
        self._model.on_msg(lambda _, content, __: on_message(content))
        _answer_on_the_asking_shell(self._model.comm)

    @property
    def view(self) -> Json:
        """What a display bundle carries under ``VIEW_MIME``."""
        return {"version_major": 2, "version_minor": 0, "model_id": self._model.model_id}

    def send(self, frame: Json) -> None:
        self._context.copy().run(self._model.send, frame)

    def close(self) -> None:
        self._context.copy().run(self._model.layout.close)
        self._context.copy().run(self._model.close)


def is_built(view: View) -> bool:
    """Whether the front end was built; without it the static rendering is all there is."""
    return (_STATIC / f"{view}.js").is_file()


@cache
def _model_class(view: View) -> Any:
    import anywidget  # slow to import, needed once something is shown live
    import traitlets

    sheet = _STATIC / f"{view}.css"
    style = sheet.read_text(encoding="utf-8") if sheet.is_file() else ""
    members = {
        "_esm": traitlets.Unicode(_LOADER).tag(sync=True),
        "_css": traitlets.Unicode(style).tag(sync=True),
        "code_key": traitlets.Unicode(_key(_source(view))).tag(sync=True),
        "code_model": traitlets.Unicode().tag(sync=True),
    }
    return type(f"Octo{view.title()}", (anywidget.AnyWidget,), members)


def _code(view: View) -> Any:
    """The model that holds the view's code; made anew if the person closed all widgets."""
    if view not in _codes or _codes[view].comm is None:
        _codes[view] = _code_class()(code=_source(view))
    return _codes[view]


@cache
def _code_class() -> Any:
    import ipywidgets  # type: ignore[import-untyped]  # as anywidget: needed for a live view only
    import traitlets

    return type("OctoCode", (ipywidgets.Widget,), {"code": traitlets.Unicode().tag(sync=True)})


@cache
def _source(view: View) -> str:
    return (_STATIC / f"{view}.js").read_text(encoding="utf-8")


def _key(source: str) -> str:
    return hashlib.sha256(source.encode()).hexdigest()[:16]


def _answer_on_the_asking_shell(comm: Any) -> None:
    """Let a click be handled on the subshell it arrived on.

    ipykernel 7.4 sends it to the shell that published last, which in a blocking cell is the
    one that is blocked: a Stop button would be dead until the cell ends.
    """
    if hasattr(comm, "_reply_subshell_for"):
        comm._reply_subshell_for = lambda _, default: default
