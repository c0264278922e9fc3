"""Quotes the passage of the documentation that answers a question."""

from __future__ import annotations

import re
from dataclasses import dataclass

from octo_lab.llm.offline.features import plain
from octo_lab.llm.offline.own import OwnTools, has_word
from octo_lab.llm.offline.slots import Request
from octo_lab.llm.offline.steps import Reply, Result, phrase

_LENGTH = 700
_TITLE = 2.0  # a word in the title tells more than one in the text
# As octo_docs writes what it found: a title, the page, the text.
_PASSAGE = re.compile(
    r"^### ([^\n]*)\n\(octo_lab docs, (\w+)\)\n\n(.*?)(?=\n\n### |\Z)", re.MULTILINE | re.DOTALL
)
_TERM = re.compile(r"--?[a-z][\w-]*|/[a-z]+|%+\w+|\w+")
_EVERYWHERE = ("octo", "octo_lab", "lab")


@dataclass(frozen=True, slots=True, kw_only=True)
class _Passage:
    title: str
    page: str
    text: str


def docs_answer(request: Request, result: Result, own: OwnTools) -> Reply:
    """The best passage of the page asked for, short, and where it is from."""
    found = [
        _Passage(title=match[1], page=match[2], text=match[3])
        for match in _PASSAGE.finditer(result.text)
    ]
    if not found:
        return Reply(text=phrase(request, "no_docs"))
    wanted = request.intent.partition(".")[2]
    on_page = [one for one in found if one.page == wanted] or found
    plainly = {*own.common, *_EVERYWHERE}
    asked = [term for term in _terms(request.text) if term.lstrip("%") not in plainly]
    best = max(on_page, key=lambda one: _fit(asked, one) + own.alike(request.text, one.title))
    page = phrase(request, "docs_page", page=best.page)
    return Reply(text=f"{_start(best.text.strip())}\n\n{page}")


def _fit(asked: list[str], passage: _Passage) -> float:
    title, text = _terms(passage.title), _terms(passage.text)
    return sum(_TITLE * has_word(term, title) + has_word(term, text) for term in asked)


def _terms(text: str) -> list[str]:
    return _TERM.findall(plain(text))


def _start(text: str) -> str:
    """The first sentences of a passage, its lines joined."""
    text = re.sub(r"(?<=\S)\n(?=\S)", " ", text)
    if len(text) <= _LENGTH:
        return text
    ends = [match.end() for match in re.finditer(r"[.;:](?=\s)", text[:_LENGTH])]
    return text[: ends[-1]] if ends else f"{text[:_LENGTH]}…"
