"""Whether a base URL is a web address, and what of it may be shown."""

from __future__ import annotations

from urllib.parse import urlsplit

from octo_lab.core.errors import ConfigError


def check_address(provider: str, url: str) -> None:
    """Raises ConfigError for what is no web address; not all of it would httpx notice."""
    try:
        parts = urlsplit(url)
        usable = parts.scheme in ("http", "https") and parts.hostname and parts.port != 0
    except ValueError:
        raise no_address(provider, url) from None
    if not usable or not parts.netloc.isprintable() or " " in parts.netloc:
        raise no_address(provider, url)


def no_address(provider: str, url: str) -> ConfigError:
    """The error of a base URL that is none."""
    return ConfigError(
        f"The base URL of {provider!r} is no web address: {shown_host(url)!r}",
        hint="it looks like http://host:port/v1",
    )


def shown_host(url: str) -> str:
    """The host and port of a URL; whatever else it holds (a key, a password) is not shown."""
    scheme, separator, rest = url.rpartition("://")
    return f"{scheme}{separator}{rest.partition('/')[0].rpartition('@')[2]}"
