"""Mask what looks like a key, and the secrets that are known, in text that leaves the program."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import lru_cache

from octo_lab.security.known import Known
from octo_lab.security.masking import MASK as MASK
from octo_lab.security.masking import MaskedStream, Rule

_SECRET_NAME = re.compile(
    r"(?i)(?:^|_)(?:(?:api)?keys?|access_key_id|tokens?|secrets?|passw(?:or)?d|passphrase|pat"
    r"|credentials?|dsn|connection_string)$"
)

_REMEMBERED, _LONGEST = 64, 150_000  # texts, and characters of one


class Redactor:
    """Masks the given secrets, in their usual spellings, and with ``shapes`` what looks like a
    key; checksums, ids and ordinary code stay. Twice is as once, and costs as much: a result is
    shown, stored and sent.
    """

    def __init__(self, secrets: Iterable[str] = (), *, shapes: bool = True) -> None:
        self._rule = Rule(Known(secrets), shapes=shapes)
        self._mask = lru_cache(_REMEMBERED)(self._rule.mask)

    def __call__(self, text: str) -> str:
        return self._mask(text) if len(text) <= _LONGEST else self._rule.mask(text)

    def to_judge(self, text: str) -> str:
        """For a person who says yes or no to what a text does: no part of that is hidden."""
        return self._rule.mask_to_judge(text)

    def knows(self, text: str) -> bool:
        """Whether one of the given secrets stands in it."""
        return text in self._rule.known

    def in_pieces(self) -> MaskedStream:
        """For text that comes in pieces."""
        return MaskedStream(self._rule)


redact = Redactor()
"""Masks what looks like a key."""


@lru_cache(maxsize=8)
def redactor(secrets: tuple[str, ...], *, shapes: bool = True) -> Redactor:
    """The same one for the same secrets: making one costs more than a turn should."""
    return Redactor(secrets, shapes=shapes)


def secret_values(environ: Mapping[str, str]) -> list[str]:
    """The values of variables whose names say that they are secret."""
    names = [name for name in environ if _SECRET_NAME.search(name)]
    return [environ[name] for name in names if name in environ]


@dataclass(frozen=True, slots=True)
class Secrets:
    """Those of the variables, whenever it is iterated, and ``more``."""

    environ: Mapping[str, str] = field(repr=False)
    more: tuple[str, ...] = field(default=(), repr=False)

    def __iter__(self) -> Iterator[str]:
        return iter((*secret_values(self.environ), *self.more))
