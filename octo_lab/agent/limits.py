"""What one turn may use: model calls, tokens, seconds, side-by-side calls, bytes."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """Bounds of one turn.

    ``iterations`` counts model calls, ``tokens`` input and output together (``None``: no limit),
    ``seconds`` wall time without the waiting for a person, ``idle`` seconds in which nothing at
    all happens. ``parallel`` calls run at once; ``arguments`` and ``output`` bound one call's
    JSON and result, in characters. An answer that was cut is continued ``continuations`` times; an
    empty one is asked for again after each of the ``empty_waits``, in seconds, and then once not
    streamed; without waits it is not.
    """

    iterations: int = 50
    tokens: int | None = None
    seconds: float = 600.0
    idle: float = 300.0
    parallel: int = 8
    arguments: int = 1_000_000
    output: int = 50_000
    continuations: int = 2
    empty_waits: tuple[float, ...] = (1.0, 2.0, 4.0)
