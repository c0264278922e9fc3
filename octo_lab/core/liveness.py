"""Tells who waits for an answer that it is on its way, though there is nothing to show yet."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar

_LISTENER: ContextVar[Callable[[], None] | None] = ContextVar("octo_lab_liveness", default=None)


@contextmanager
def listening(heard: Callable[[], None]) -> Iterator[None]:
    """Within, ``heard`` is called for every ``alive``, also from tasks that are started here."""
    token = _LISTENER.set(heard)
    try:
        yield
    finally:
        _LISTENER.reset(token)


def alive() -> None:
    """More of an answer has come: a part of a long call, say, that is whole only later."""
    heard = _LISTENER.get()
    if heard is not None:
        heard()
