"""The variables that programs we start are given: none that steers them, none that is secret."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from fnmatch import fnmatchcase

from octo_lab.security.redact import redact, secret_values

BLOCKED = frozenset(
    {
        *("LD_PRELOAD", "LD_LIBRARY_PATH", "LD_AUDIT"),
        *("DYLD_INSERT_LIBRARIES", "DYLD_LIBRARY_PATH", "DYLD_FRAMEWORK_PATH"),
        *("DYLD_FALLBACK_LIBRARY_PATH", "DYLD_VERSIONED_LIBRARY_PATH"),
        *("NODE_OPTIONS", "PYTHONSTARTUP", "PYTHONPATH", "PERL5OPT", "RUBYOPT", "RUBYLIB"),
        *("JAVA_TOOL_OPTIONS", "BASH_ENV", "ENV", "ZDOTDIR"),
    }
)
"""Variables that make a program load or run something else first."""

_SECRET_NAME = re.compile(
    r"(?i)(?:^|_)(?:(?:api)?keys?|access_key_id|tokens?|secrets?|passw(?:or)?d|passphrase|pass|pwd"
    r"|pat|credentials?|cookies?|auth|dsn|connection_string)$|^(?:SSH_AUTH_SOCK|GPG_AGENT_INFO)$"
)
_PLAIN_NAMES = frozenset({"PWD"})
_FUNCTION = "BASH_FUNC_"
_SHORTEST = 6


def clean_environ(
    environ: Mapping[str, str], *, allow: Iterable[str] = (), secrets: Iterable[str] = ()
) -> dict[str, str]:
    """What of ``environ`` may be passed on.

    Left out are the ``BLOCKED`` names, exported shell functions, names and values that look
    secret, and values that hold one of ``secrets`` or the value of a secret variable. ``allow``
    are patterns of names that are passed although they look secret; never a blocked one.
    """
    wanted = tuple(allow)
    known = {s for s in (*secrets, *_secret_values(environ)) if len(s) >= _SHORTEST}
    return {
        name: value
        for name, value in environ.items()
        if _well_formed(name, value)
        and (_listed(name, wanted) or not (looks_secret(name) or _holds_secret(value, known)))
    }


def without_blocked(environ: Mapping[str, str]) -> dict[str, str]:
    """All of ``environ`` but what steers programs: for variables that the owner gave on purpose."""
    return {name: value for name, value in environ.items() if _well_formed(name, value)}


def _well_formed(name: str, value: str) -> bool:
    odd = not name or "=" in name or "\0" in name + value
    return not (odd or name in BLOCKED or name.startswith(_FUNCTION))


def _listed(name: str, patterns: tuple[str, ...]) -> bool:
    return any(fnmatchcase(name, pattern) for pattern in patterns)


def looks_secret(name: str) -> bool:
    """Whether a variable or setting of that name usually holds a secret."""
    return name not in _PLAIN_NAMES and bool(_SECRET_NAME.search(name))


def _secret_values(environ: Mapping[str, str]) -> list[str]:
    named = [value for name, value in environ.items() if looks_secret(name)]
    # The path of an agent's socket is part of many a harmless value.
    return [value for value in (*secret_values(environ), *named) if not value.startswith("/")]


def _holds_secret(value: str, known: set[str]) -> bool:
    return redact(value) != value or any(secret in value for secret in known)
