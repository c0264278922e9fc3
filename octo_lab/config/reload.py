"""Reads changed settings anew: what can be changed while a runtime lives is, the rest is told."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable
from pathlib import Path

from octo_lab.config.layers import leaves
from octo_lab.config.place import Place, find_place_again
from octo_lab.config.settings import Settings
from octo_lab.core.errors import ConfigError

HOT = (
    *("model", "fallbacks", "providers", "models", "routing", "local"),
    *("limits", "session.history", "session.compact"),
    *("tools.allow", "tools.deny", "tools.python", "tools.rules", "tools.risks", "tools.hosts"),
    *("web_search", "web_fetch", "deep_crawl"),
    *("browser.action_timeout_secs", "browser.idle_timeout_secs"),
    *("tools.channels", "tools.models", "tools.approval_seconds", "security"),
)
logger = logging.getLogger(__name__)
Look = tuple[tuple[int, int, int] | None, ...]


class Reloader:
    """Costs one look at each file when nothing has changed. Belongs to the runtime's loop."""

    def __init__(self, place: Place, apply: Callable[[Place], None]) -> None:
        self._place = place
        self._apply = apply
        self._seen = _look(place.files)
        self._warning = place.warning  # not told yet
        if place.warning:
            logger.warning("%s", place.warning)

    def news(self) -> str:
        """Apply what has changed since the last call; one line for the person, mostly empty.

        The first call says what of the workspace's settings is left out.
        """
        changed = self._changed()
        warning, self._warning = self._warning, ""
        return " ".join(filter(None, (changed, warning)))

    def _changed(self) -> str:
        seen = _look(self._place.files)
        if seen == self._seen:
            return ""
        self._seen = seen
        try:
            place = find_place_again(self._place)
        except ConfigError as exc:
            return f"The changed settings are not used, the former ones stay: {exc}"
        cold = list(_cold(self._place.settings, place.settings))
        if place.asked.left_out != self._place.asked.left_out:
            self._warning = place.warning
        self._place = place
        self._apply(place)
        return f"Restart the kernel or gateway to apply: {', '.join(cold)}" if cold else ""


def _look(files: Iterable[Path]) -> Look:
    return tuple(map(_mark, files))


def _mark(file: Path) -> tuple[int, int, int] | None:
    try:
        found = file.stat()
    except OSError:
        return None
    return found.st_mtime_ns, found.st_size, found.st_ino


def _cold(before: Settings, after: Settings) -> Iterable[str]:
    """The changed keys that a running program cannot take over."""
    old, new = (dict(leaves(settings.model_dump(mode="python"))) for settings in (before, after))
    for key in sorted({*old, *new}):
        hot = any(key == name or key.startswith(f"{name}.") for name in HOT)
        if not hot and old.get(key) != new.get(key):
            yield key
