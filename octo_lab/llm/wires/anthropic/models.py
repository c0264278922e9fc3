"""What is known of Claude models and of others that speak the dialect, told from the name.

Source: the vendor's pages on models, thinking, effort, structured outputs and preserved thinking.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal

Thinking = Literal["none", "budget", "adaptive", "default", "always"]
Version = tuple[int, int]

_VERSION = re.compile(r"claude-(?:[a-z]+-)?(\d+)(?:[-.](\d{1,2})(?!\d))?")
_NEWEST: Version = (5, 0)
USUAL_OUTPUT = 16_384
_UNKNOWN_OUTPUT = 8_192


@dataclass(frozen=True, slots=True, kw_only=True)
class Facts:
    """``thinking``: how the model is told to think. ``budget``: so many tokens; ``adaptive``: it
    decides when asked to; ``default``: it does so unasked, unless switched off; ``always``: it
    cannot be switched off, and no tool can be forced.

    ``max_output`` is None where it is unknown, ``usual_output`` is asked for when nobody chose.
    ``sampling``: a temperature may be sent. ``prefill``: the transcript may end with the
    assistant. ``formats``: the answer can be held to a JSON schema. ``display``: thinking comes
    without its text unless that is asked for. ``signed``: thinking is taken back only with its
    signature; ``bound``: and only behind the very transcript it came from.
    """

    thinking: Thinking = "budget"
    max_output: int | None = None
    usual_output: int = _UNKNOWN_OUTPUT
    sampling: bool = True
    prefill: bool = False
    formats: bool = False
    display: bool = False
    signed: bool = False
    bound: bool = False


def facts_of(model: str) -> Facts:
    """A model that is no Claude takes what the first thinking Claude took."""
    name = model.lower()
    if "claude" not in name:
        return Facts()
    found = _VERSION.search(name)
    version = (int(found[1]), int(found[2] or 0)) if found else _NEWEST
    guarded = "fable" in name or "mythos" in name
    most = _max_output(name, version)
    return Facts(
        thinking="always" if guarded else _thinking(name, version),
        max_output=most,
        usual_output=min(USUAL_OUTPUT, most),
        sampling=version < (4, 7) and not guarded,
        prefill=version < (4, 6) and not guarded,
        formats=version >= (4, 5),
        display=version >= (4, 7) or guarded,
        signed=True,
        bound=version >= (5, 5) or (guarded and version >= (5, 1)),
    )


def _thinking(name: str, version: Version) -> Thinking:
    if version >= (5, 5) and "opus" in name:
        return "always"
    if version >= (5, 0):
        return "default"
    if version >= (4, 6):
        return "adaptive"
    return "budget" if version >= (3, 7) else "none"


def _max_output(name: str, version: Version) -> int:
    if version >= (4, 7) or (version >= (4, 6) and "opus" in name):
        return 128_000
    if version >= (4, 5):
        return 64_000
    if version >= (4, 0) and "opus" in name:
        return 32_000
    if version >= (3, 7):
        return 64_000
    return 8_192 if version >= (3, 5) else 4_096
