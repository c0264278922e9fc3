"""Session keys: which conversation, of whom, where."""

from __future__ import annotations

from dataclasses import dataclass
from urllib.parse import quote, unquote

from octo_lab.core.errors import UsageError


@dataclass(frozen=True, slots=True, kw_only=True)
class ChatAddress:
    """One chat of one channel, of one profile; it may hold several dialogs over time."""

    channel: str
    chat_id: str
    profile: str = "default"

    def dialog(self, dialog: str) -> SessionKey:
        return SessionKey(address=self, dialog=dialog)


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionKey:
    """One dialog (a UUIDv7) of a chat.

    Text form: ``profile:channel:chat_id:dialog``, each part percent-encoded, so that ":" and
    "#" inside a part are safe.
    """

    address: ChatAddress
    dialog: str

    def __str__(self) -> str:
        a = self.address
        return ":".join(quote(p, safe="") for p in (a.profile, a.channel, a.chat_id, self.dialog))

    @classmethod
    def parse(cls, text: str) -> SessionKey:
        """Read the text form; raises UsageError."""
        parts = [unquote(part) for part in text.split(":")]
        if len(parts) != 4 or not all(parts):
            raise UsageError(
                f"{text!r} is no session key", hint="expected profile:channel:chat_id:dialog"
            )
        profile, channel, chat_id, dialog = parts
        return cls(
            address=ChatAddress(profile=profile, channel=channel, chat_id=chat_id), dialog=dialog
        )
