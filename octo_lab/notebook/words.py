"""``%octo WORD`` and ``%octo /command``: answered at once, without a turn."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from functools import partial
from typing import Protocol

from octo_lab.core.errors import OctoError, UsageError
from octo_lab.core.mail import (
    CheckProvider,
    Control,
    GetProviders,
    GetRouting,
    GetStatus,
    RunCommand,
)
from octo_lab.core.replies import ControlReply, ProviderCheck, ProviderList, Routing, Status, Told
from octo_lab.notebook.cards import (
    check_card,
    doctor_card,
    models_card,
    providers_card,
    show_text,
    status_card,
)
from octo_lab.notebook.context_bar import context_bar
from octo_lab.notebook.magics import HELP
from octo_lab.notebook.options import Parsed
from octo_lab.notebook.router_card import router_chart, router_markdown
from octo_lab.notebook.trust_word import is_about_trust
from octo_lab.session.commands import is_command

_CARDS: Mapping[str, Callable[[Status, str], str]] = {
    "": status_card,
    "status": status_card,
}
_LISTS: Mapping[str, Callable[[ProviderList], str]] = {
    "models": models_card,
    "providers": providers_card,
}

_TEST = re.compile(r"providers\s+test\s+(\S+)")


class Controls(Protocol):
    """Runs a control of this notebook's chat; knows whether its kernel has a gateway."""

    @property
    def gateway_word(self) -> str: ...

    def control(self, control: Control) -> ControlReply: ...

    @property
    def trust_word(self) -> str: ...

    def trust(self, text: str) -> str: ...


def said_by_word(controls: Controls, parsed: Parsed) -> str | None:
    """What a word or slash command said, which is shown; None for a prompt. Raises OctoError."""
    text = parsed.text.strip()
    if text == "help":
        print(HELP)  # noqa: T201 - help goes to the cell
        return HELP
    if text == "doctor" and not set(parsed.given) - {"raw"}:
        return _card(controls, partial(doctor_card, trust=controls.trust_word))
    if text in _CARDS and not set(parsed.given) - {"raw"}:
        return _card(controls, _CARDS[text])
    if text in _LISTS and not set(parsed.given) - {"raw"}:
        said = _list(controls, _LISTS[text])
    elif text == "router":
        return _router(controls)
    elif match := _TEST.fullmatch(text):
        said = _check(controls, match[1])
    elif is_about_trust(text):
        said = controls.trust(text)
    elif is_command(text) or text == "tools":
        line, session = f"/{text.removeprefix('/')}", parsed.given.get("session") or ""
        said = _done(controls.control(RunCommand(line=line, session=session)))
    else:
        return None
    show_text(said)
    return said


def _router(controls: Controls) -> str:
    reply = controls.control(GetRouting())
    if not isinstance(reply, Routing):
        raise OctoError(_done(reply))
    said = router_markdown(reply)
    show_text(said, router_chart(reply))
    return said


def _check(controls: Controls, name: str) -> str:
    """A failure is shown with what was tried, and fails the cell only where nothing could be."""
    reply = controls.control(CheckProvider(name=name))
    if not isinstance(reply, ProviderCheck):
        raise OctoError(_done(reply))
    return check_card(reply)


def _card(controls: Controls, card: Callable[[Status, str], str]) -> str:
    reply = controls.control(GetStatus())
    if not isinstance(reply, Status):
        raise OctoError(_done(reply))
    said = card(reply, controls.gateway_word)
    show_text(said, context_bar(reply))
    return said


def _list(controls: Controls, card: Callable[[ProviderList], str]) -> str:
    reply = controls.control(GetProviders())
    if not isinstance(reply, ProviderList):
        raise OctoError(_done(reply))
    return card(reply)


def _done(reply: ControlReply) -> str:
    if not isinstance(reply, Told):
        raise OctoError("The runtime gave no answer to that")
    if reply.failed:
        raise UsageError(reply.text, hint=reply.hint)
    return reply.text
