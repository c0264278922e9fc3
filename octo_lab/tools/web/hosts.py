"""The host that a URL names, for policy and for messages."""

from __future__ import annotations

from octo_lab.core.errors import ToolFailed
from octo_lab.security.net.urls import parse_url


def host_of(url: str) -> str:
    """Canonical, as it would be connected to; empty for what is no URL."""
    try:
        return parse_url(url).host
    except ToolFailed:
        return ""
