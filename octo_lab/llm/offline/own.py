"""Finds the tool of the person's own that a request is about."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from octo_lab.core.messages import ToolSpec
from octo_lab.llm.offline.embedding import Embedding
from octo_lab.llm.offline.features import plain
from octo_lab.llm.offline.normal import slip_of

_NAME, _TOLD, _MEANT, _STRANGE = 0.5, 0.35, 0.35, 0.15  # what each sign of a fit weighs
ENOUGH = 0.5
LEAD = 0.05
_WORD = re.compile(r"[^\W\d_]+")
_CHINESE = re.compile(r"[\u2e80-\u9fff]")
_HUMP = re.compile(r"(?<=[a-z])(?=[A-Z])")
_ENDING = re.compile(r"(?<=\w{3})(?:ing|ed|es|s|e)$")
_CHOICES = re.compile(r"^[A-Za-z][\w -]*$")


@dataclass(frozen=True, slots=True, kw_only=True)
class Fit:
    """A tool, and how well a request fits it: about 1 when its name and words are there."""

    tool: ToolSpec
    score: float


@dataclass(frozen=True, slots=True, kw_only=True)
class OwnTools:
    """``common`` words are in any request and say nothing about one tool."""

    embedding: Embedding
    common: Collection[str]

    def ranked(self, text: str, tools: Sequence[ToolSpec]) -> list[Fit]:
        """The tools by how well ``text`` fits, best first."""
        asked = self.content(text)
        fits = [Fit(tool=tool, score=self._score(text, asked, tool)) for tool in tools]
        return sorted(fits, key=lambda fit: -fit.score)

    def content(self, text: str) -> list[str]:
        """The words that say what ``text`` is about."""
        return [word for word in _words(text) if word not in self.common]

    def _score(self, text: str, asked: Sequence[str], tool: ToolSpec) -> float:
        if re.search(rf"(?<!\w){re.escape(tool.name)}(?!\w)", text):
            return (
                1.0
                if "_" in tool.name or f"`{tool.name}`" in text
                else 0.5 + self._rest(asked, tool)
            )
        return self._rest(asked, tool)

    def _rest(self, asked: Sequence[str], tool: ToolSpec) -> float:
        if not asked:
            return 0.0
        own = self._telling(_words(_spaced(tool.name)))
        known = [*own, *self._telling(_tool_words(tool))]
        named = sum(_has(word, asked) for word in own) / len(own)
        told = sum(_has(word, known) for word in asked) / len(asked)
        if not named and sum(_has(word, known) for word in asked) < 2:
            return 0.0
        meant = self._alike(" ".join(asked), " ".join(known))
        return _NAME * named + _TOLD * told + _MEANT * meant - _STRANGE * (1 - told)

    def _telling(self, words: Sequence[str]) -> list[str]:
        return [word for word in words if word not in self.common] or list(words)

    def _alike(self, one: str, other: str) -> float:
        left, right = self.embedding.of([one, other])
        length = float((left @ left) ** 0.5 * (right @ right) ** 0.5)
        return max(0.0, float(left @ right) / length) if length else 0.0


def tool_vocabulary(tool: ToolSpec) -> frozenset[str]:
    """The words of the tool's name, description, parameters and choices."""
    return frozenset([*_words(_spaced(tool.name)), *_tool_words(tool)])


def _tool_words(tool: ToolSpec) -> list[str]:
    said = tool.description.split("\n\n", 1)[0]
    return _words(" ".join([said, *map(_spaced, _schema_words(tool.schema))]))


def _schema_words(schema: Mapping[str, Any]) -> Iterable[str]:
    for name, part in schema.get("properties", {}).items():
        yield name
        yield str(part.get("description", ""))
        yield from (choice for choice in choices(part, schema) if _CHOICES.match(choice))


def resolved(part: Mapping[str, Any], schema: Mapping[str, Any]) -> Mapping[str, Any]:
    """The part of a schema that a value must fit: references followed, "or null" left out."""
    if "$ref" in part:
        name = str(part["$ref"]).rpartition("/")[2]
        return resolved(schema.get("$defs", {}).get(name, {}), schema)
    others = [one for one in part.get("anyOf", ()) if one.get("type") != "null"]
    return resolved(others[0], schema) if len(others) == 1 else part


def choices(part: Mapping[str, Any], schema: Mapping[str, Any]) -> list[str]:
    """The values that a parameter may have, if only a few texts are allowed."""
    found = resolved(part, schema)
    values = [found["const"]] if "const" in found else found.get("enum", ())
    return [value for value in values if isinstance(value, str)]


def _spaced(name: str) -> str:
    return _HUMP.sub(" ", name).replace("_", " ")


def _words(text: str) -> list[str]:
    """Words in lower case; Chinese in pairs of signs."""
    words: list[str] = []
    for word in _WORD.findall(plain(text)):
        if _CHINESE.search(word):
            words += [word[at : at + 2] for at in range(max(1, len(word) - 1))]
        else:
            words.append(word)
    return words


def _has(word: str, known: Iterable[str]) -> bool:
    """Whether a form of ``word`` is known: "rain" is in "rainfall", "cities" is "city"."""
    stem = _stem(word)
    return any(_same(stem, _stem(one)) for one in known) or slip_of(word, known) is not None


def _same(one: str, other: str) -> bool:
    short, long = sorted((one, other), key=len)
    return short == long or (len(short) >= 4 and long.startswith(short))


def _stem(word: str) -> str:
    return _ENDING.sub("", word.removesuffix("ies") + "y" if word.endswith("ies") else word)
