"""Knows by their names the files and variables that hold secrets."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import Any

_BEFORE = r"(?:^|[\s\"'`=:(\[{,;|&<>/\\~@])"
_AFTER = r"(?=$|[\s\"'`)\]},;|&<>/\\:*?])"
_FILES = (
    r"\.env(?:\.(?!example|sample|template|dist\b)[\w-]{1,30})?",
    r"[\w.-]{1,80}\.(?:pem|p12|pfx|jks|keystore|kdbx|ppk|ovpn)",
    r"[\w.-]{0,40}(?:private|server|client|tls|ssl|host|ca|domain)[\w-]{0,40}\.key",
    r"id_(?:rsa|dsa|ecdsa|ed25519)(?:_sk)?",
    r"\.(?:ssh|aws|gnupg|kube|azure|password-store|gcloud|secrets)",
    r"\.(?:netrc|pgpass|my\.cnf|npmrc|pypirc|git-credentials|htpasswd|dockercfg|vault[\w-]{0,20})",
    r"_netrc",
    r"[\w-]{0,40}credentials?\.(?:json|ini|toml|ya?ml|txt|csv|db|xml)",
    r"[\w-]{0,40}secrets?\.(?:json|ini|toml|ya?ml|txt|env|properties)",
    r"service[_-]account[\w-]{0,40}\.json",
    r"[\w.-]{0,40}keychain-db",
    r"\.docker/config\.json",
    r"etc/shadow",
    r"proc/[\w*]{1,10}/environ",
    r"wallet\.dat",
    r"cookies\.sqlite",
    r"\.(?:bash|zsh|python|psql|mysql)_history",
)
# Words of every program: names of files only where they stand as one.
_WORDS = r"[\w-]{0,40}credentials?|secrets|[\w.-]{0,40}keychain|login data|[\w.-]{1,80}\.key"
_NAMED = re.compile(
    rf"{_BEFORE}({'|'.join(_FILES)}){_AFTER}|(?:^|[\"'/\\])({_WORDS})(?=$|[\"'/\\])",
    re.IGNORECASE,
)
_WORD = re.compile(r"[^\s\"'`=:(\[{,;|&<>)\]}]{1,300}")
_DETOUR = re.compile(r"/(?:\.?/)+")
_NAME = re.compile(r"[^\W\d]\w{0,80}")
_LONGEST = 300
# What is looked for or written is no place that is read.
_NO_PLACE = frozenset({"pattern", "query", "content", "text", "body", "old_text", "new_text"})


@dataclass(frozen=True, slots=True, kw_only=True)
class PrivateNames:
    """``paths`` and ``variables`` are patterns of the owner's, beside those known to everybody."""

    paths: tuple[str, ...] = ()
    variables: tuple[str, ...] = ()

    def in_places(self, given: Mapping[str, Any]) -> str:
        """The first private name among the short arguments of a call, or ''."""
        places = (
            text for key, text in _texts("", given) if key not in _NO_PLACE and _is_short(text)
        )
        return next(filter(None, map(self.in_text, places)), "")

    def in_program(self, given: Mapping[str, Any]) -> str:
        """The first private name in a program among a call's arguments, or ''."""
        return next(filter(None, (self.in_text(text) for _, text in _texts("", given))), "")

    def in_text(self, text: str) -> str:
        """The first private file or variable that a text names, or ''."""
        text = straight(text)
        match = _NAMED.search(text)
        if match:
            return match[1] or match[2]
        return self._own(_WORD, text, self.paths) or self._own(_NAME, text, self.variables)

    def _own(self, word: re.Pattern[str], text: str, patterns: Iterable[str]) -> str:
        if not patterns:
            return ""
        words = dict.fromkeys(match[0] for match in word.finditer(text))
        return next((one for one in words if any(_fits(one, p) for p in patterns)), "")


def straight(text: str) -> str:
    """With each path in it as it is usually written: ``a//b/./c`` is ``a/b/c``."""
    return _DETOUR.sub("/", text)


def _fits(word: str, pattern: str) -> bool:
    """As a whole path, as its end, or as a folder above it."""
    path = word.removeprefix("./").lower()
    wanted = pattern.removeprefix("./").rstrip("/").lower()
    return any(
        fnmatchcase(path, form) for form in (wanted, f"*/{wanted}", f"{wanted}/*", f"*/{wanted}/*")
    )


def _is_short(text: str) -> bool:
    return len(text) <= _LONGEST and "\n" not in text


def _texts(key: str, value: Any) -> Iterator[tuple[str, str]]:
    match value:
        case str():
            yield key, value
        case Mapping():
            for inner, part in value.items():
                yield from _texts(str(inner), part)
        case list() | tuple():
            for part in value:
                yield from _texts(key, part)
