"""The one error that matters when task groups have wrapped it."""

from __future__ import annotations


def cause_of(exc: BaseException) -> BaseException:
    """The error at the bottom of groups; the first where there are several."""
    while isinstance(exc, BaseExceptionGroup):
        exc = exc.exceptions[0]
    return exc
