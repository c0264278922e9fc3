"""What one turn may use: model calls, tokens, seconds, side-by-side calls, bytes."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """Bounds of one turn.

    ``iterations`` counts model calls, ``tokens`` input and output together (``None``: no limit),
    ``seconds`` wall time without the waiting for a person. ``parallel`` calls run at once;
    ``arguments`` and ``output`` bound one call's JSON and result, in characters.
    """

    iterations: int = 50
    tokens: int | None = None
    seconds: float = 600.0
    parallel: int = 8
    arguments: int = 1_000_000
    output: int = 50_000
