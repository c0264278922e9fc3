"""``octo models`` and ``octo providers``: where answers can come from."""

from __future__ import annotations

import json
import sys
from dataclasses import asdict
from itertools import filterfalse
from pathlib import Path

from octo_lab.cli.ask import FAILED
from octo_lab.cli.look import ask_control, refused
from octo_lab.cli.outcome import Outcome
from octo_lab.cli.printer import printable
from octo_lab.core.mail import CheckProvider, GetProviders
from octo_lab.core.replies import ProviderCheck, ProviderInfo, ProviderList
from octo_lab.core.wire import reply_json
from octo_lab.core.words import card_words, check_rows, is_connected, missing_words

_MARKS = {"reached": "✓", "built in": "✓", "not reached": "✗", "refused": "✗"}


def show_models(*, as_json: bool, workspace: Path | None) -> Outcome:
    _, reply = ask_control(GetProviders(), workspace)
    if not isinstance(reply, ProviderList):
        return refused(reply)
    usable = list(filter(is_connected, reply.providers))
    if as_json:
        names = [name for info in usable for name in info.models]
        known = {card.name: asdict(card) for card in reply.cards}
        said = {"current": reply.current, "models": names, "known": known}
        sys.stdout.write(json.dumps(said) + "\n")
        return Outcome()
    words = {card.name: f"  {card_words(card)}" for card in reply.cards}
    for info in usable:
        for name in info.models or (f"{info.name}: {_state(info)}",):
            mark = "*" if name == reply.current else " "
            sys.stdout.write(printable(f"{mark} {name}{words.get(name, '')}") + "\n")
    _print_note(reply)
    return Outcome()


def show_providers(*, as_json: bool, workspace: Path | None) -> Outcome:
    _, reply = ask_control(GetProviders(), workspace)
    if not isinstance(reply, ProviderList):
        return refused(reply)
    if as_json:
        sys.stdout.write(json.dumps(asdict(reply)) + "\n")
        return Outcome()
    for info in filter(is_connected, reply.providers):
        _print_connected(info)
    sys.stdout.write("Not connected:\n")
    for info in filterfalse(is_connected, reply.providers):
        sys.stdout.write(printable(f"  {info.name:<11} {missing_words(info)}") + "\n")
    _print_note(reply)
    return Outcome()


def _print_connected(info: ProviderInfo) -> None:
    sys.stdout.write(printable(f"{_MARKS.get(info.state, ' ')} {info.name}: {_state(info)}") + "\n")
    for name, value in (("base URL", info.base_url), ("key", info.key)):
        if value:
            sys.stdout.write(f"    {name:<8}  {printable(value)}\n")


def show_check(name: str, *, as_json: bool, workspace: Path | None) -> Outcome:
    _, reply = ask_control(CheckProvider(name=name), workspace)
    if not isinstance(reply, ProviderCheck):
        return refused(reply)
    if as_json:
        sys.stdout.write(json.dumps(reply_json(reply)) + "\n")
        return Outcome(code=FAILED if reply.error else 0)
    rows = check_rows(reply)
    width = max(len(name) for name, _ in rows)
    for row, value in rows:
        sys.stdout.write(printable(f"{row:<{width}}  {value}") + "\n")
    if reply.error:
        return Outcome(code=FAILED, error=reply.error, hint=reply.hint)
    return Outcome()


def _state(info: ProviderInfo) -> str:
    return f"{info.state}: {info.note}" if info.note else info.state


def _print_note(reply: ProviderList) -> None:
    if reply.note:
        sys.stdout.write(printable(f"· {reply.note}") + "\n")
