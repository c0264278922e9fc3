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
from octo_lab.llm.offline.slots import Request, unmarked

_NAME, _TOLD, _MEANT, _STRANGE = 0.5, 0.35, 0.35, 0.15  # what each sign of a fit weighs
_GENERIC = 0.4  # how much a word of many a name, like "get" or "run", counts in a name
_FORM = 0.75  # how much another form of a word counts
ENOUGH = 0.5
LEAD = 0.05
_WORD = re.compile(r"[^\W\d_]+")
_CHINESE = re.compile(r"[\u2e80-\u9fff]")
_HUMP = re.compile(r"(?<=[a-z])(?=[A-Z])")
_ENDING = re.compile(r"(?<=\w{3})(?:ing|ed|es|s|e)$")
_PROPER = re.compile(r"(?<=\w )[^\W\d_a-zß-öø-ÿ\u2e80-\u9fff]\w+")
_CHOICES = re.compile(r"^[A-Za-z][\w -]*$")


@dataclass(frozen=True, slots=True, kw_only=True)
class Fit:
    """A tool, and how well a request fits it: about 1 when its name and words are there."""

    tool: ToolSpec
    score: float


@dataclass(frozen=True, slots=True, kw_only=True)
class OwnTools:
    """``common`` words are in any request; ``generic`` ones are what built-in tools do, too."""

    embedding: Embedding
    common: Collection[str]
    generic: Collection[str]

    def ranked(
        self, request: Request, tools: Sequence[ToolSpec], taken: Collection[str] = ()
    ) -> list[Fit]:
        """The tools by how well the request fits, best first.

        Words in ``taken`` tell nothing: they are what a built-in tool is asked with.
        """
        asked = [word for word in self.content(unmarked(request)) if word not in taken]
        proper = {plain(word) for word in _PROPER.findall(request.text)}
        fits = [
            Fit(
                tool=tool, score=self._named(request.text, tool) or self._score(asked, proper, tool)
            )
            for tool in tools
        ]
        return sorted(fits, key=lambda fit: -fit.score)

    def content(self, text: str) -> list[str]:
        """The words that say what ``text`` is about."""
        return [word for word in _words(text) if word not in self.common]

    def _named(self, text: str, tool: ToolSpec) -> float:
        """Named as only a tool is named: ``my_tool``, or in backticks."""
        name = re.escape(tool.name)
        bare = rf"|(?<!\w){name}(?!\w)" if "_" in tool.name else ""
        return 1.5 if re.search(rf"`{name}`{bare}", text) else 0.0

    def _score(self, asked: Sequence[str], proper: Collection[str], tool: ToolSpec) -> float:
        own = self._telling(_words(_spaced(tool.name)))
        known = [*own, *self._telling(_tool_words(tool))]
        asked = [word for word in asked if word not in proper or has_word(word, known)]
        if not asked:
            return 0.0
        named = self._share(own, asked)
        hits = [has_word(word, known) for word in asked]
        told = sum(hits) / len(asked)
        if not named and sum(map(bool, hits)) < 2 and told < 1:
            return 0.0
        meant = self.alike(" ".join(asked), " ".join(known))
        return _NAME * named + _TOLD * told + _MEANT * meant - _STRANGE * (1 - told)

    def _share(self, own: Sequence[str], asked: Sequence[str]) -> float:
        """How much of the tool's name is in the request."""
        weights = {word: _GENERIC if word in self.generic else 1.0 for word in own}
        found = sum(weight * has_word(word, asked) for word, weight in weights.items())
        return found / sum(weights.values())

    def _telling(self, words: Sequence[str]) -> list[str]:
        return [word for word in words if word not in self.common] or list(words)

    def alike(self, one: str, other: str) -> float:
        """How near two texts are in meaning, from 0 to 1."""
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


def has_word(word: str, known: Collection[str]) -> float:
    """Whether ``word`` is known; a form of it, as "rain" of "rainfall", counts less."""
    if word in known:
        return 1.0
    stem = _stem(word)
    is_form = any(_same(stem, _stem(one)) for one in known) or slip_of(word, known)
    return _FORM if is_form else 0.0


def _same(one: str, other: str) -> bool:
    short, long = sorted((one, other), key=len)
    return short == long or (len(short) >= 4 and long.startswith(short))


def _stem(word: str) -> str:
    """Without plural and verb endings; "ü" and "ue" alike."""
    word = re.sub(
        r"([aou])e", r"\1", word.removesuffix("ies") + "y" if word[-3:] == "ies" else word
    )
    return _ENDING.sub("", word)
