"""Takes the arguments out of a request, guided by the example templates of its intent."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from octo_lab.llm.offline.features import plain
from octo_lab.llm.offline.fitted import OUT_OF_SCOPE
from octo_lab.llm.offline.languages import Language
from octo_lab.llm.offline.marks import Kind, Mark
from octo_lab.llm.offline.normal import slip_of

_SLOT = re.compile(r"\{(\w+)\}")
_WRITTEN = re.compile(r"(?:(?![\u2e80-\u9fff])[\w'’])+")
_WORD = re.compile(r"[^\W_][\w'’]*")
_LONGEST_NAME = 60
_SYMBOL = re.compile(r"\b[A-Z]{2,}\b|\w_\w|[a-z][A-Z]")
_EDGE = " \t\r\n.,;:!?¿¡。，？！、；：\"'`«»“”„‘’()"


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """One request as understood: its text, marks and intent; its likeliest language first.

    ``ordinary`` are the words of everyday requests, ``attached`` names what came with it,
    ``sureness`` is about 1 for an example of the intent, 0 when there is none.
    """

    text: str
    marks: tuple[Mark, ...]
    intent: str
    languages: tuple[Language, ...]
    ordinary: frozenset[str]
    attached: tuple[str, ...] = ()
    sureness: float = 0.0

    @property
    def language(self) -> Language:
        return self.languages[0]

    def marked(self, *kinds: Kind) -> list[Mark]:
        return [mark for mark in self.marks if mark.kind in kinds]

    def words(self, role: str) -> tuple[str, ...]:
        return tuple(word for language in self.languages for word in language.words[role])


@dataclass(frozen=True, slots=True, kw_only=True)
class _Candidate:
    value: str
    weight: int


def aligned(request: Request, slot: str) -> list[str]:
    """What stands where the templates have ``slot``, the best fit first."""
    found: dict[str, int] = {}
    for template in _templates(request):
        for candidate in _fits(request, template, slot):
            found[candidate.value] = max(found.get(candidate.value, 0), candidate.weight)
    return sorted(found, key=lambda value: (-found[value], len(value), value))


def names(request: Request, slot: str) -> list[str]:
    """Names of variables the request may mean, the likeliest first.

    Marked ones (backticks, ``@``) are certain; then come words that no example knows, of
    which the one in the place of ``slot`` leads, then any other word in that place.
    """
    certain = [mark.value for mark in request.marked("name", "item")]
    certain = certain or [name for name in request.attached if name.isidentifier()]
    if certain:
        return certain
    rare = rare_words(request)
    placed = [word for word in aligned(request, slot) if word.isidentifier() and word.isascii()]
    strong = [word for word in placed if word in rare]
    return list(dict.fromkeys([*strong, *rare, *placed[:1]]))


def rare_words(request: Request) -> list[str]:
    """Identifiers outside marks that are neither ordinary words of requests nor slips of them."""
    words = dict.fromkeys(match[0] for match in _WRITTEN.finditer(unmarked(request)))
    return [
        word for word in words if word.isascii() and word.isidentifier() and _is_rare(word, request)
    ]


def _is_rare(word: str, request: Request) -> bool:
    low = plain(word)
    if low in request.ordinary or len(word) > _LONGEST_NAME:
        return False
    return word != low or not slip_of(low, request.ordinary)


def bare_folders(request: Request) -> list[str]:
    """Words without a slash that may name a folder: rare ones, or the last of the request."""
    rare = rare_words(request)
    placed = [word for word in aligned(request, "dir") if " " not in word]
    at_end = [word for word in placed if re.search(rf"\b{re.escape(word)}\W*$", request.text)]
    return [*(word for word in placed if word in rare), *rare, *at_end[:1]]


def is_findable(request: Request) -> bool:
    """Whether it is files that are to be read or searched: something marked, or words for it.

    "Where is my phone" is asked like "where is my_function".
    """
    if request.marks or _SYMBOL.search(request.text) or len(request.text.split()) < 3:
        return True
    text = plain(request.text)
    return any(
        plain(word) in text if not word.isascii() else re.search(rf"(?<![a-z]){plain(word)}", text)
        for word in request.words("search")
    )


def unmarked(request: Request) -> str:
    """The text with its marks blanked, so that places stay the same."""
    text = request.text
    for mark in request.marks:
        text = text[: mark.start] + " " * (mark.end - mark.start) + text[mark.end :]
    return text


def vocabulary(languages: Iterable[Language]) -> frozenset[str]:
    """The ordinary words of requests in these languages."""
    return frozenset(
        plain(word)
        for language in languages
        for source in (_known_texts(language), *_known_words(language))
        for text in source
        for word in _WORD.findall(_SLOT.sub(" ", text))
    )


def _known_texts(language: Language) -> Iterator[str]:
    for intent, texts in language.examples.items():
        if intent != OUT_OF_SCOPE:
            yield from texts


def _known_words(language: Language) -> Iterator[tuple[str, ...]]:
    for role, words in language.words.items():
        if role not in ("follow", "follow_for", "before_name"):
            yield words


def tidy(value: str, request: Request) -> str:
    """Without politeness, articles and punctuation at its ends."""
    extra = sorted([*request.words("polite"), *request.words("article")], key=len, reverse=True)
    before = ""
    while before != value:
        before = value
        value = value.strip(_EDGE)
        for word in extra:
            value = _without(value, word)
    return value


def _without(value: str, word: str) -> str:
    gap = "" if not word.isascii() or word.endswith("'") else " "
    lower = value.lower()
    if lower.startswith(word + gap):
        value = value[len(word) :]
    if lower.endswith(gap + word) and len(value) > len(word):
        value = value[: -len(word)]
    return value.strip()


def _templates(request: Request) -> Iterator[str]:
    for language in request.languages:
        yield from language.examples.get(request.intent, ())


def _fits(request: Request, template: str, slot: str) -> Iterator[_Candidate]:
    pieces = _SLOT.split(template)
    for at in range(1, len(pieces), 2):
        if pieces[at] != slot:
            continue
        left, right = _tail(pieces[at - 1]), _head(pieces[at + 1])
        if not left and not right:
            continue
        if right or at + 2 >= len(pieces):
            yield from _between(request, left, right)
        if left and at + 2 < len(pieces):  # what follows in the template may be left out
            yield from _between(request, left, "")


def _between(request: Request, left: str, right: str) -> Iterator[_Candidate]:
    start, end = left or "^", right or "$"
    for match in re.finditer(rf"{start}(.{{1,80}}?){end}", request.text, re.IGNORECASE | re.DOTALL):
        value = tidy(match[1], request)
        if value and len(value.split()) <= 6 and value.lower() not in request.words("here"):
            yield _Candidate(value=value, weight=len(left) + len(right) - (not right))


def _tail(literal: str) -> str:
    """The last words before a slot, as a pattern that ends at a word's end."""
    if not literal.isascii() and _has_cjk(literal):
        return re.escape(literal.strip()[-3:])
    words = literal.split()[-2:]
    return rf"(?<!\w){_spaced(words)}(?!\w)" if words else ""


def _head(literal: str) -> str:
    if not literal.isascii() and _has_cjk(literal):
        return re.escape(literal.strip()[:3])
    words = literal.strip(" ?!.").split()[:2]
    return rf"(?<!\w){_spaced(words)}(?!\w)" if words else ""


def _spaced(words: list[str]) -> str:
    return r"\s+".join(re.escape(word.strip(":,")) for word in words if word.strip(":,"))


def _has_cjk(text: str) -> bool:
    return any("\u2e80" <= char <= "\u9fff" for char in text)
