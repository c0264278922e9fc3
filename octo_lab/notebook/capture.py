"""Catches what agent code shows: text, values, pictures; nothing of it reaches a cell."""

from __future__ import annotations

import asyncio
import base64
import builtins
import contextlib
import getpass
import io
import re
import sys
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from typing import Any, NoReturn

from IPython.core.interactiveshell import InteractiveShell

from octo_lab.core.errors import ToolFailed
from octo_lab.core.messages import Media
from octo_lab.core.text import head_and_tail
from octo_lab.notebook.variable_tools import user_variables
from octo_lab.tools.sandbox.lines import NewestLines

LIMIT = 50_000  # characters kept
MOST_PICTURES = 20  # of one run
_HEARD = 10_000  # characters of one piece of output in which lines of progress are looked for
_COLOUR = re.compile(r"\x1b\[[0-9;]*m")
PICTURES = {"image/png": b"\x89PNG", "image/jpeg": b"\xff\xd8\xff", "image/gif": b"GIF8"}


class Bounded(io.TextIOBase):
    """A text stream that keeps the beginning and the end of what is written to it.

    Only ``thread`` is caught, and what IPython writes for its ``%%bash`` on a loop of its own;
    what others print goes where it went before.
    """

    def __init__(self, before: Any, script_loop: Callable[[], object] = lambda: None) -> None:
        self._before = before
        self._script_loop = script_loop
        self.thread = 0
        self.lines = NewestLines()
        self._head: list[str] = []
        self._tail = ""
        self._room = LIMIT
        self._lost = 0

    def write(self, text: str) -> int:
        if not self._is_ours():
            self._before.write(text)
            return len(text)
        self.lines.add(text[-_HEARD:].encode(errors="replace"))
        taken = text[: self._room]
        self._head.append(taken)
        self._room -= len(taken)
        self._keep_tail(text[len(taken) :])
        return len(text)

    def _is_ours(self) -> bool:
        if threading.get_ident() == self.thread:
            return True
        try:
            return asyncio.get_running_loop() is self._script_loop()
        except RuntimeError:
            return False

    def _keep_tail(self, text: str) -> None:
        if text:
            kept = (self._tail + text)[-LIMIT // 2 :]
            self._lost += len(self._tail) + len(text) - len(kept)
            self._tail = kept

    @property
    def encoding(self) -> str:  # type: ignore[override]
        return "utf-8"

    def writable(self) -> bool:
        return True

    def fileno(self) -> int:
        return int(self._before.fileno())

    @property
    def text(self) -> str:
        gap = f"\n[… {self._lost} characters omitted …]\n" if self._lost else ""
        return "".join(self._head) + gap + self._tail


class Capture:
    """What one run of agent code gave. ``around`` is entered for each step of the run."""

    def __init__(self, shell: InteractiveShell) -> None:
        self._shell = shell
        self.stdout = Bounded(sys.stdout, partial(_script_loop, shell))
        self.shown: list[str] = []
        self.media: list[Media] = []
        self._left_out = 0
        self._variables = tuple(user_variables(shell))

    @contextmanager
    def around(self) -> Iterator[None]:
        self.stdout.thread = threading.get_ident()
        with (
            contextlib.redirect_stdout(self.stdout),
            contextlib.redirect_stderr(self.stdout),
            self._no_questions(),
            self._displays(),
            self._tracebacks(),
            _whole(self._shell),
        ):
            yield

    @contextmanager
    def _no_questions(self) -> Iterator[None]:
        """``input()`` and ``exit()`` say what to do instead, and touch nothing."""
        before = builtins.input, getpass.getpass
        builtins.input = _no_input
        getpass.getpass = _no_input
        shell: Any = self._shell
        shell.ask_exit = _no_exit
        try:
            yield
        finally:
            builtins.input, getpass.getpass = before
            shell.__dict__.pop("ask_exit", None)

    @contextmanager
    def _displays(self) -> Iterator[None]:
        """Displays of this thread come here; a live turn on another thread goes on."""
        publisher: Any = self._shell.display_pub
        if not hasattr(publisher, "register_hook"):
            yield
            return
        publisher.register_hook(self._take)
        try:
            yield
        finally:
            publisher.unregister_hook(self._take)

    @contextmanager
    def _tracebacks(self) -> Iterator[None]:
        """What IPython reports by itself (a repr that raises, ``%run``) is the code's output."""
        shell: Any = self._shell
        shell._showtraceback = self._take_traceback
        try:
            yield
        finally:
            shell.__dict__.pop("_showtraceback", None)

    def _take_traceback(self, kind: object, error: object, lines: list[str]) -> None:
        self.stdout.write(_COLOUR.sub("", "\n".join(lines)) + "\n")

    def _take(self, message: dict[str, Any]) -> None:
        data = message.get("content", {}).get("data")
        if message.get("header", {}).get("msg_type") != "clear_output" and data:
            self.show(data)

    def show(self, data: Mapping[str, Any]) -> None:
        """Keep one MIME bundle: its picture, else its text."""
        for mime, beginning in PICTURES.items():
            picture = _bytes(data.get(mime))
            if picture.startswith(beginning):
                self._keep_picture(Media(mime=mime, data=picture))
                return
        text = data.get("text/plain") or data.get("text/markdown") or ""
        if text:
            self.shown.append(head_and_tail(str(text), LIMIT))

    def _keep_picture(self, picture: Media) -> None:
        if len(self.media) < MOST_PICTURES:
            self.media.append(picture)
        else:
            self._left_out += 1

    @property
    def deleted(self) -> tuple[str, ...]:
        """The variables that were there before and are no more."""
        left = user_variables(self._shell)
        return tuple(name for name in self._variables if name not in left)

    @property
    def text(self) -> str:
        """Everything printed, then everything shown; never silent about what was deleted."""
        parts = [self.stdout.text.rstrip("\n"), *self.shown]
        if self._left_out:
            parts.append(f"[{self._left_out} more pictures left out]")
        if self.deleted:
            parts.append(f"[variables of the notebook that are gone: {', '.join(self.deleted)}]")
        return head_and_tail("\n".join(part for part in parts if part), LIMIT)


def _script_loop(shell: Any) -> object:
    scripts = shell.magics_manager.registry.get("ScriptMagics")
    return getattr(scripts, "event_loop", None)


def flush_figures() -> None:
    """Show the matplotlib figures made so far; does nothing unless the inline backend is used."""
    backend = sys.modules.get("matplotlib_inline.backend_inline")
    if backend is not None and "matplotlib.pyplot" in sys.modules:
        backend.flush_figures()


@contextmanager
def _whole(shell: InteractiveShell) -> Iterator[None]:
    """What the code took away from Python itself or from IPython is put back."""
    before = dict(vars(builtins))
    try:
        yield
    finally:
        for name in before.keys() - vars(builtins).keys():
            setattr(builtins, name, before[name])
        hidden: Any = shell.user_ns_hidden
        shell.user_ns["get_ipython"] = hidden.get("get_ipython", shell.get_ipython)


def _bytes(data: object) -> bytes:
    """A picture's bytes; none for what is no picture: a value's own code may give anything."""
    if isinstance(data, bytes):
        return data
    try:
        return base64.b64decode(data) if isinstance(data, str) else b""
    except ValueError:
        return b""


def _no_input(*_: object, **__: object) -> NoReturn:
    raise ToolFailed(
        "input() is not available: nobody can answer the agent's code",
        hint="ask the person in your answer instead",
    )


def _no_exit(*_: object) -> NoReturn:
    raise ToolFailed(
        "exit() is not available: the code runs inside the person's kernel",
        hint="let the code end instead",
    )
