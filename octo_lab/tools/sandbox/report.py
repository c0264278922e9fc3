"""What sandbox commands run in, in one line for a person."""

from __future__ import annotations

from octo_lab.tools.sandbox.choice import Choice

_NAMES = {"pids": "processes", "memory": "memory"}


def sandbox_words(choice: Choice) -> str:
    """Which, why no better one, which bounds hold for all its processes, and what does not hold."""
    held = ", ".join(_NAMES[name] for name in sorted(choice.held)) or "none"
    return "; ".join(
        [
            choice.kind,
            *(f"not {tried.kind}: {tried.fault}" for tried in choice.tried),
            f"limits that hold: {held}",
            *choice.gaps,
        ]
    )
