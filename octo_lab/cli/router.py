"""``octo router``: how the models that share the work are doing."""

from __future__ import annotations

import json
import sys
from pathlib import Path

from octo_lab.cli.look import ask_control, refused
from octo_lab.cli.outcome import Outcome
from octo_lab.cli.printer import printable
from octo_lab.core.mail import GetRouting
from octo_lab.core.replies import Routing
from octo_lab.core.wire import reply_json
from octo_lab.core.words import ROUTER_ALONE, ROUTER_COLUMNS, router_row


def show_router(*, as_json: bool, workspace: Path | None) -> Outcome:
    place, reply = ask_control(GetRouting(), workspace)
    if not isinstance(reply, Routing):
        return refused(reply)
    if as_json:
        sys.stdout.write(json.dumps({"answered_by": place, **reply_json(reply)}) + "\n")
        return Outcome()
    sys.stdout.write(f"mode: {reply.mode} (answered by {place})\n")
    if not reply.slots:
        sys.stdout.write(f"{ROUTER_ALONE}\n")
        return Outcome()
    rows = [ROUTER_COLUMNS, *map(router_row, reply.slots)]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for row in rows:
        cells = (cell.ljust(width) for cell, width in zip(row, widths, strict=True))
        sys.stdout.write(printable("  ".join(cells).rstrip()) + "\n")
    return Outcome()
