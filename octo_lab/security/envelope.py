"""Marks text of strangers, so that a model can tell it from what its own people say."""

from __future__ import annotations

import re
import secrets
from dataclasses import dataclass, field

from octo_lab.security.fold import found_in

MARK = "octo-outside"
_GAP = r"[\s_.\-]{0,8}"
_WORD = _GAP.join("octooutside")
_BEGIN = re.compile(rf'<{MARK} id="[0-9a-f]+" from="([^"]*)">\n')
_QUOTED = "(mark removed)"
_LONGEST = 200


@dataclass(frozen=True, slots=True)
class Envelope:
    """One envelope for one turn: what is inside cannot write its beginning or its end.

    Every spelling of the mark within the text goes: in any case, spaced, with unseen characters
    in it, in letters that look alike. What claims to be wrapped already is wrapped again.
    """

    nonce: str = field(default_factory=lambda: secrets.token_hex(8))

    def wrap(self, text: str, *, origin: str, warning: str = "") -> str:
        """``origin`` says where it comes from; ``warning`` is one line of our own about it."""
        begin = f'<{MARK} id="{self.nonce}" from="{_one_line(origin)}">'
        note = f"[octo_lab: {_one_line(warning)}]\n" if warning else ""
        inside = _without(text, rf"{_WORD}|{_GAP.join(self.nonce)}")
        return f'{begin}\n{note}{inside}\n</{MARK} id="{self.nonce}">'


def origin_of(text: str) -> str:
    """Whose words a text of our own making holds, as its envelope says; else empty."""
    found = _BEGIN.match(text)
    return found[1] if found else ""


def neutral(text: str) -> str:
    """The text without anything that reads as the mark of an envelope."""
    return _without(text, _WORD)


def _without(text: str, pattern: str) -> str:
    spans = found_in(text, re.compile(pattern))
    parts: list[str] = []
    at = 0
    for start, end in spans:
        parts += (text[at:start], _QUOTED)
        at = end
    return "".join((*parts, text[at:])) if spans else text


def _one_line(text: str) -> str:
    """Names come from strangers, too: a host, a file, a tool of a plugin."""
    line = neutral(" ".join(text.split()))
    return re.sub(r'["<>\[\]\x00-\x1f\x7f]', "", line)[:_LONGEST]
