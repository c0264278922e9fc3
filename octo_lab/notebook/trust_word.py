"""``%octo trust``: what the workspace's files ask for, and the person's yes to it."""

from __future__ import annotations

import re
from pathlib import Path

from octo_lab.config.paths import user_folder
from octo_lab.config.place import Place, trust_place
from octo_lab.config.trust import read_trusted, revoke_trust
from octo_lab.core.errors import UsageError

# one word with a digit is a code, mistyped or copied with the dot behind it; "trust me" is a prompt
_WORDS = re.compile(r"trust(?:\s+(?P<code>revoke|yes|(?=\D*\d)\S+?)\.?)?")


def is_about_trust(text: str) -> bool:
    return _WORDS.fullmatch(text) is not None


def trust_said(text: str, place: Place) -> str:
    """What to show, in Markdown. With the code that was shown, and only as long as the files ask
    for the same, they get it. Raises UsageError, ConfigError.
    """
    match = _WORDS.fullmatch(text)
    code = match["code"] if match else None
    if code == "revoke":
        return _revoked(place.workspace)
    if code is None:
        return _shown(place)
    if code != place.asked.code:
        raise UsageError(
            f"The files do not ask for {code!r}, they may have changed",
            hint="%octo trust shows what they ask for now",
        )
    trust_place(place)
    return f"You trust `{place.workspace}`. It holds from the next question on."


def _shown(place: Place) -> str:
    read_trusted(user_folder())
    asked = place.asked
    if not asked.demands:
        return f"Nothing in `{place.workspace}` needs your trust now."
    if not asked.left_out:
        ending = "You trust it, until it changes; `%octo trust revoke` takes that back."
    else:
        ending = f"Left out until you allow it: run `%octo trust {asked.code}`."
    lines = "\n".join(asked.lines)
    return f"The files of `{place.workspace}` ask for this:\n\n```text\n{lines}\n```\n\n{ending}"


def _revoked(workspace: Path) -> str:
    if not revoke_trust(user_folder(), workspace):
        raise UsageError(
            f"{str(workspace)!r} is not trusted", hint="%octo trust shows what it asks"
        )
    return f"You trust `{workspace}` no more. It holds from the next question on."
