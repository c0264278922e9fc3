"""Catches what agent code shows: text, values, pictures; nothing of it reaches a cell."""

from __future__ import annotations

import base64
import builtins
import contextlib
import getpass
import io
import sys
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any, NoReturn

from IPython.core.interactiveshell import InteractiveShell

from octo_lab.core.errors import ToolFailed
from octo_lab.core.messages import Media
from octo_lab.core.text import head_and_tail

LIMIT = 50_000  # characters kept
PICTURES = ("image/png", "image/jpeg", "image/gif")


class Bounded(io.TextIOBase):
    """A text stream that keeps the beginning and the end of what is written to it.

    Only ``thread`` is caught; what others print goes where it went before.
    """

    def __init__(self, before: Any) -> None:
        self._before = before
        self.thread = 0
        self._head: list[str] = []
        self._tail = ""
        self._room = LIMIT
        self._lost = 0

    def write(self, text: str) -> int:
        if threading.get_ident() != self.thread:
            self._before.write(text)
            return len(text)
        taken = text[: self._room]
        self._head.append(taken)
        self._room -= len(taken)
        self._keep_tail(text[len(taken) :])
        return len(text)

    def _keep_tail(self, text: str) -> None:
        if text:
            kept = (self._tail + text)[-LIMIT // 2 :]
            self._lost += len(self._tail) + len(text) - len(kept)
            self._tail = kept

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
        self.stdout = Bounded(sys.stdout)
        self.shown: list[str] = []
        self.media: list[Media] = []

    @contextmanager
    def around(self) -> Iterator[None]:
        self.stdout.thread = threading.get_ident()
        with (
            contextlib.redirect_stdout(self.stdout),
            contextlib.redirect_stderr(self.stdout),
            self._no_questions(),
            self._displays(),
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

    def _take(self, message: dict[str, Any]) -> None:
        data = message.get("content", {}).get("data")
        if message.get("header", {}).get("msg_type") != "clear_output" and data:
            self.show(data)

    def show(self, data: Mapping[str, Any]) -> None:
        """Keep one MIME bundle: its picture, else its text."""
        for mime in PICTURES:
            if mime in data:
                self.media.append(Media(mime=mime, data=_bytes(data[mime])))
                return
        text = data.get("text/plain") or data.get("text/markdown") or ""
        if text:
            self.shown.append(head_and_tail(str(text), LIMIT))

    @property
    def text(self) -> str:
        """Everything printed, then everything shown."""
        parts = [self.stdout.text.rstrip("\n"), *self.shown]
        return head_and_tail("\n".join(part for part in parts if part), LIMIT)


def flush_figures() -> None:
    """Show the matplotlib figures made so far; does nothing unless the inline backend is used."""
    backend = sys.modules.get("matplotlib_inline.backend_inline")
    if backend is not None and "matplotlib.pyplot" in sys.modules:
        backend.flush_figures()


def _bytes(data: str | bytes) -> bytes:
    return data if isinstance(data, bytes) else base64.b64decode(data)


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
