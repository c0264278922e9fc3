"""What may be used of this machine's own models, and how."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Literal

ServerKind = Literal["ollama", "lmstudio", "llamacpp"]
PORTS: tuple[tuple[ServerKind, int], ...] = (
    ("ollama", 11434),
    ("lmstudio", 1234),
    ("llamacpp", 8080),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class LocalPolicy:
    """``detect``: look for servers on loopback at ``ports`` when nothing else is configured.

    ``model`` is the path of a GGUF file that the ``local`` provider runs, with so many
    ``threads`` (None: all cores but one, at most eight) and at most ``context`` tokens, unless
    the user set the model's own window.
    """

    detect: bool = False
    ports: tuple[tuple[ServerKind, int], ...] = PORTS
    model: str = ""
    threads: int | None = None
    context: int = 8192


def expanded(path: str) -> Path:
    """The path with the home that ``~`` means; a ``~name`` of nobody is a name like any other."""
    try:
        return Path(path).expanduser()
    except RuntimeError:
        return Path(path)
