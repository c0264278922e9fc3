"""``octo context``: what fills the model's window."""

from __future__ import annotations

import json
import sys
from dataclasses import asdict
from pathlib import Path

from octo_lab.cli.look import ask_control, refused
from octo_lab.cli.outcome import Outcome
from octo_lab.cli.printer import printable
from octo_lab.core.mail import GetStatus
from octo_lab.core.replies import Status
from octo_lab.core.words import layer_rows

_BAR, _GAUGE = 40, 20


def show_context(*, as_json: bool, workspace: Path | None) -> Outcome:
    place, reply = ask_control(GetStatus(), workspace)
    if not isinstance(reply, Status):
        return refused(reply)
    if as_json:
        layers = [asdict(layer) for layer in reply.layers]
        known = {"answered_by": place, "window": reply.context_window, "layers": layers}
        sys.stdout.write(json.dumps({**known, "tokens": reply.context_tokens}) + "\n")
        return Outcome()
    session = reply.title or reply.session or "a new session"
    used, window = reply.context_tokens, reply.context_window
    full = round(_GAUGE * min(1, used / window)) if window else 0
    gauge = "█" * full + "░" * (_GAUGE - full)
    sys.stdout.write(printable(f"{session}: {used:,} of {window:,} tokens  {gauge}") + "\n")
    largest = max((layer.tokens for layer in reply.layers), default=1)
    for layer, (name, tokens, share) in zip(reply.layers, layer_rows(reply), strict=True):
        bar = "█" * max(1, round(_BAR * layer.tokens / largest))
        sys.stdout.write(printable(f"  {name:<13}{tokens:>9} {share:>7}  {bar}") + "\n")
    return Outcome()
