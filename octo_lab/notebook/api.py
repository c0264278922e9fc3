"""The functions of the front page: what ``import octo_lab as ol`` offers in a notebook."""

from __future__ import annotations

import difflib
from collections.abc import Sequence
from dataclasses import astuple, fields
from typing import TYPE_CHECKING, Any

from IPython.core.getipython import get_ipython

from octo_lab.core.errors import OctoError, UsageError
from octo_lab.core.mail import GetProviders, GetRouting, GetSessions, GetStatus, RunCommand
from octo_lab.core.replies import (
    ModelCard,
    ProviderList,
    Routing,
    SessionList,
    SlotInfo,
    Status,
    Told,
)
from octo_lab.notebook.extension import load_ipython_extension
from octo_lab.notebook.face import Face
from octo_lab.notebook.magics import OctoShell
from octo_lab.notebook.options import OPTIONS, Parsed
from octo_lab.notebook.panel_link import PanelLink
from octo_lab.notebook.panels.chat import ChatPanel
from octo_lab.notebook.turn import Turn

if TYPE_CHECKING:
    import pandas as pd

_OPTIONS = tuple(option.key for option in OPTIONS if option.key != "help")


def _face() -> Face:
    shell: Any = get_ipython()
    if shell is None:
        raise UsageError(
            "octo_lab needs a notebook or IPython here", hint="in a terminal: octo run, octo chat"
        )
    if not isinstance(getattr(shell, "octo", None), OctoShell):
        load_ipython_extension(shell)
    octo: OctoShell = shell.octo
    return octo.face


def ask(prompt: str, **options: Any) -> Turn:
    """Ask and wait for the answer, which appears in the running cell.

    ``options`` are those of ``%%octo``: model, session, tools, no_tools, attach, context, schema,
    temperature, max_tokens, stop_at, timeout, append, quiet, bg. The prompt is sent as it stands.
    A slash command (``/help``) is run and shown; its answer is the turn's text.
    Raises OctoError; a turn that failed says so in ``turn.error``.
    """
    return _face().run_blocking(_parsed(prompt, options))


async def ask_async(prompt: str, **options: Any) -> Turn:
    """As ``ask``, awaited: the kernel stays alive, so that buttons work."""
    return await _face().run(_parsed(prompt, options), quiet_end=False)


def _parsed(prompt: str, options: dict[str, Any]) -> Parsed:
    if not isinstance(prompt, str):
        raise UsageError(f"A prompt is text, not {type(prompt).__name__}", hint="ask(str(value))")
    if not prompt.strip():
        raise UsageError("There is nothing to ask", hint='ol.ask("a question")')
    for name in options:
        if name not in _OPTIONS:
            near = difflib.get_close_matches(name, _OPTIONS, n=1)
            hint = f"did you mean {near[0]!r}?" if near else f"known: {', '.join(_OPTIONS)}"
            raise UsageError(f"ask() has no option {name!r}", hint=hint)
    given = {name: value for name, value in options.items() if value not in (None, False)}
    for name in ("tools", "attach", "stop_at"):
        if isinstance(given.get(name), str):
            given[name] = [given[name]]
        elif isinstance(given.get(name), Sequence):
            given[name] = list(given[name])
    return Parsed(given={"raw": True, **_checked(given)}, text=prompt)


def _checked(given: dict[str, Any]) -> dict[str, Any]:
    """Text and numbers as the magic would read them; raises UsageError naming the option."""
    read = {option.key: option.read for option in OPTIONS if option.value and not option.many}
    for name, value in given.items():
        if name in read and isinstance(value, str | int | float):
            try:
                given[name] = read[name](str(value))
            except UsageError as exc:
                raise UsageError(f"{name}: {exc.message}", hint=exc.hint) from None
    return given


def allow(*tools: str) -> None:
    """Let these tools run unasked in this notebook's dialog, until the runtime closes."""
    if not tools:
        raise UsageError("Allow which tools?", hint='ol.allow("python")')
    reply = _face().control(RunCommand(line=f"/allow {' '.join(tools)}"))
    if not isinstance(reply, Told):
        raise OctoError("The runtime gave no answer")
    if reply.failed:
        raise UsageError(reply.text, hint=reply.hint)


def private(*names: str) -> tuple[str, ...]:
    """Mark variables as private, by name or pattern (``"key_*"``); returns all that are marked.

    Their values are not listed, code that may read them asks each time, and a conversation that
    has seen one is asked before anything leaves.
    """
    marks = _face().toolkit.private
    marks.mark(names)
    return marks.marked


def chat() -> ChatPanel:
    """The chat panel on this notebook's conversation."""
    face = _face()
    runtime = face.runtime()
    runtime.opened.result()
    return ChatPanel(PanelLink(runtime), headless=face.place().headless)


def tool(function: Any = None, /, **options: Any) -> Any:
    """Decorator: let the agent call this function of the notebook, sync or async."""
    return _face().toolkit.tool(*([function] if function is not None else []), **options)


def sessions(query: str = "") -> pd.DataFrame:
    """This notebook's dialogs, newest first, as a DataFrame."""
    import pandas as pd  # half a second, needed by this function only

    reply = _face().control(GetSessions(query=query))
    if not isinstance(reply, SessionList):
        raise OctoError("The runtime gave no list of sessions")
    columns = ["title", "turns", "current", "busy", "archived", "updated_at", "session"]
    rows = [[getattr(info, name) for name in columns] for info in reply.sessions]
    return pd.DataFrame(rows, columns=columns)


def models() -> pd.DataFrame:
    """The models that can be chosen, as a DataFrame, one row a model.

    ``context_window`` and ``max_output`` are tokens, prices US dollars per million tokens; what
    is not known is missing.
    """
    import pandas as pd

    reply = _face().control(GetProviders())
    if not isinstance(reply, ProviderList):
        raise OctoError("The runtime gave no list of models")
    known = {card.name: card for card in reply.cards}
    names = [name for info in reply.providers for name in info.models]
    columns = [field.name for field in fields(ModelCard)]
    rows = [astuple(known.get(name) or ModelCard(name=name)) for name in names]
    table = pd.DataFrame(rows, columns=columns)
    table.insert(1, "current", [name == reply.current for name in names])
    return table


def router() -> pd.DataFrame:
    """How the models that share the work are doing, as a DataFrame, one row a model.

    Latencies are seconds until the first words, ``throughput`` is tokens a second, ``cost`` US
    dollars since the runtime opened.
    """
    import pandas as pd

    reply = _face().control(GetRouting())
    if not isinstance(reply, Routing):
        raise OctoError("The runtime gave no account of its router")
    columns = [field.name for field in fields(SlotInfo)]
    return pd.DataFrame([astuple(slot) for slot in reply.slots], columns=columns)


def status() -> Status:
    """What ``%octo`` shows, as data."""
    reply = _face().control(GetStatus())
    if not isinstance(reply, Status):
        raise OctoError("The runtime gave no status")
    return reply


def close() -> None:
    """Close the runtime of this kernel; the next use opens it again."""
    _face().close()
