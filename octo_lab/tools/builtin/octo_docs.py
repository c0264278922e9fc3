"""The tool ``octo_docs``: finds passages in the pages that octo_lab ships about itself."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache, partial
from importlib.resources import files

import anyio.to_thread
from pydantic import BaseModel, ConfigDict, Field

from octo_lab.tools.model_tool import model_tool
from octo_lab.tools.tool import ToolContext

_WORD = re.compile(r"[a-z0-9_]+")
_HEADING = 3
_MANY = 1.2  # how fast more of the same word stops to matter (BM25's k1)
_COMMON = frozenset(
    re.findall(
        r"\w+",
        "a an and are as at be by can do does for from how i in is it its me my of on octo or that"
        " the this to use what when where which who why with you your",
    )
)


class OctoDocsArgs(BaseModel):
    """What the tool takes."""

    model_config = ConfigDict(extra="forbid")

    query: str = Field(min_length=1, max_length=500, description="English key words.")
    limit: int = Field(default=2, ge=1, le=5, description="How many passages at most.")


@dataclass(frozen=True, slots=True, kw_only=True)
class Passage:
    """One section of a page."""

    page: str
    title: str
    text: str
    words: Counter[str]

    def shown(self) -> str:
        return f"### {self.title}\n(octo_lab docs, {self.page})\n\n{self.text}"


async def octo_docs(ctx: ToolContext, args: OctoDocsArgs) -> str:
    """Search the documentation of octo_lab: magics, sessions, tools, models, config, headless."""
    found = await anyio.to_thread.run_sync(partial(find_passages, args.query, args.limit))
    if found:
        return "\n\n".join(passage.shown() for passage in found)
    pages = ", ".join(dict.fromkeys(passage.page for passage in passages()))
    return f"No passage matches {args.query!r}. There are pages about: {pages}."


def find_passages(query: str, limit: int = 2) -> list[Passage]:
    """The best passages for ``query``, best first; none when no word fits."""
    wanted = [_stem(word) for word in _words(query) if word not in _COMMON]
    rarity = _rarity()
    scored = [(_score(passage, wanted, rarity), passage) for passage in passages()]
    ranked = sorted(scored, key=lambda pair: -pair[0])
    return [passage for score, passage in ranked[:limit] if score > 0]


@cache
def passages() -> tuple[Passage, ...]:
    """Every section of the shipped pages, in the order of their names."""
    pages = files("octo_lab.tools.builtin") / "docs"
    names = sorted(page.name for page in pages.iterdir() if page.name.endswith(".md"))
    return tuple(
        passage
        for name in names
        for passage in _sections(name.removesuffix(".md"), (pages / name).read_text("utf-8"))
    )


def _sections(page: str, text: str) -> Iterator[Passage]:
    """A page is cut at its ``##`` headings; its name and title count for each of its parts."""
    first, *rest = re.split(r"^## ", text, flags=re.MULTILINE)
    title, _, lead = first.removeprefix("# ").partition("\n")
    for heading, body in [(title, lead), *(part.partition("\n")[::2] for part in rest)]:
        words = Counter(map(_stem, _words(body)))
        for word in map(_stem, _words(f"{heading} {page}")):
            words[word] += _HEADING
        for word in map(_stem, _words(title)):
            words[word] += _HEADING
        yield Passage(page=page, title=heading.strip(), text=body.strip(), words=words)


@cache
def _rarity() -> dict[str, float]:
    every = passages()
    seen = Counter(word for passage in every for word in passage.words)
    return {word: math.log(1 + len(every) / count) for word, count in seen.items()}


def _score(passage: Passage, wanted: list[str], rarity: dict[str, float]) -> float:
    total = 0.0
    for word in wanted:
        count = passage.words[word]
        total += rarity.get(word, 0.0) * count / (count + _MANY)
    return total


def _words(text: str) -> list[str]:
    return _WORD.findall(text.lower())


def _stem(word: str) -> str:
    """Plural and verb endings off, so that "sessions" finds "session"."""
    return re.sub(r"(?<=\w{4})(?:es|s|ing|ed)$", "", word)


TOOL = model_tool(
    octo_docs, OctoDocsArgs, name="octo_docs", group="info", source="own", timeout=10.0
)
