"""What is kept per language: example requests, words and phrases, read from data files."""

from __future__ import annotations

import hashlib
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from importlib.resources import files

CODES = ("en", "de", "es", "fr", "zh")


@dataclass(frozen=True, slots=True, kw_only=True)
class Language:
    """One language: ``examples`` by intent, ``words`` by role, ``say`` by situation,
    ``places`` to time zones, what each operation on a column is called."""

    code: str
    examples: Mapping[str, tuple[str, ...]]
    words: Mapping[str, tuple[str, ...]]
    say: Mapping[str, str]
    places: Mapping[str, str]
    operations: Mapping[str, tuple[str, ...]]


def load_languages() -> dict[str, Language]:
    """Read every language file; blocks for a few milliseconds."""
    return {code: _load(code) for code in CODES}


def digest(languages: Mapping[str, Language]) -> str:
    """Names this state of what is learnt from: the examples and words, not the phrases."""
    learnt = [(one.code, list(one.examples.items()), one.words) for one in languages.values()]
    return hashlib.sha256(repr(learnt).encode()).hexdigest()


def _text(code: str) -> str:
    page = files("octo_lab.llm.offline") / "languages" / f"{code}.toml"
    return page.read_text("utf-8")


def _load(code: str) -> Language:
    data = tomllib.loads(_text(code))
    return Language(
        code=code,
        examples={intent: tuple(texts) for intent, texts in data["examples"].items()},
        words={role: tuple(words) for role, words in data["words"].items()},
        say=data["say"],
        places=data["places"],
        operations={name: tuple(words) for name, words in data["operations"].items()},
    )
