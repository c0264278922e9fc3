"""``octo models`` and ``octo providers``: where answers can come from."""

from __future__ import annotations

import json
import sys
from dataclasses import asdict
from pathlib import Path

from octo_lab.cli.look import ask_control, refused
from octo_lab.cli.outcome import Outcome
from octo_lab.cli.printer import printable
from octo_lab.core.mail import GetProviders, ProviderInfo, ProviderList

_MARKS = {"reached": "✓", "built in": "✓", "not reached": "✗", "refused": "✗"}


def show_models(*, as_json: bool, workspace: Path | None) -> Outcome:
    _, reply = ask_control(GetProviders(), workspace)
    if not isinstance(reply, ProviderList):
        return refused(reply)
    usable = [info for info in reply.providers if info.state != "not connected"]
    if as_json:
        names = [name for info in usable for name in info.models]
        sys.stdout.write(json.dumps({"current": reply.current, "models": names}) + "\n")
        return Outcome()
    for info in usable:
        for name in info.models or (f"{info.name}: {_state(info)}",):
            mark = "*" if name == reply.current else " "
            sys.stdout.write(printable(f"{mark} {name}") + "\n")
    _print_note(reply)
    return Outcome()


def show_providers(*, as_json: bool, workspace: Path | None) -> Outcome:
    _, reply = ask_control(GetProviders(), workspace)
    if not isinstance(reply, ProviderList):
        return refused(reply)
    if as_json:
        sys.stdout.write(json.dumps(asdict(reply)) + "\n")
        return Outcome()
    for info in reply.providers:
        rows = (("base URL", info.base_url), ("key", info.key))
        sys.stdout.write(printable(f"{_MARKS.get(info.state, ' ')} {info.name}: {_state(info)}\n"))
        for name, value in rows:
            if value:
                sys.stdout.write(f"    {name:<8}  {printable(value)}\n")
    _print_note(reply)
    return Outcome()


def _state(info: ProviderInfo) -> str:
    return f"{info.state}: {info.note}" if info.note else info.state


def _print_note(reply: ProviderList) -> None:
    if reply.note:
        sys.stdout.write(printable(f"· {reply.note}") + "\n")
