"""What the commands print of errors, without secrets."""

from __future__ import annotations

from octo_lab.config.process import process_environ
from octo_lab.security.redact import redactor, secret_values


def hidden(text: str) -> str:
    """The text without keys, and without the values of secret variables."""
    return redactor(tuple(secret_values(process_environ())))(text)
