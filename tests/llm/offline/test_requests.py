from __future__ import annotations

import re
import sys
from collections import Counter
from pathlib import Path

import pytest

from octo_lab.llm.offline.arithmetic import Arithmetic
from octo_lab.llm.offline.features import plain
from octo_lab.llm.offline.fitting import filled
from octo_lab.llm.offline.languages import load_languages
from octo_lab.llm.offline.marks import Marker, masked
from tests.llm.offline.scoring import Case, judged, read_cases
from tests.llm.offline.world import World

pytestmark = pytest.mark.anyio

PASS = 0.85
ALIKE = 0.9  # share of common letter triples from which on two requests are the same request


async def score(cases: list[Case], world: World) -> tuple[Counter[str], Counter[str], list[str]]:
    right: Counter[str] = Counter()
    all_: Counter[str] = Counter()
    claimed = []
    for case in cases:
        wrong = await judged(case, world)
        for group in ("all", case.lang, f"tool {case.tool}"):
            all_[group] += 1
            right[group] += not wrong
        if wrong.startswith("called") and case.tool is None:
            claimed.append(f"{case.text!r} {wrong}")
    return right, all_, claimed


def table(title: str, right: Counter[str], all_: Counter[str]) -> str:
    rows = [f"  {group:22} {right[group]:4} of {all_[group]:4}" for group in all_]
    return "\n".join([f"\n{title}: {right['all'] / all_['all']:.1%}", *rows])


async def test_held_out_requests_take_the_right_tool_with_the_right_arguments(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    right, all_, claimed = await score(read_cases("held_out"), World(workspace=tmp_path))
    with capsys.disabled():
        sys.stdout.write(table("offline, requests never used as examples", right, all_) + "\n")
    assert claimed == []
    assert right["all"] / all_["all"] >= PASS


async def test_requests_it_was_made_with_are_understood(tmp_path: Path) -> None:
    right, all_, _ = await score(read_cases("example"), World(workspace=tmp_path))
    assert right["all"] / all_["all"] >= 0.92, table("examples", right, all_)


def test_the_corpus_is_as_large_and_mixed_as_it_says() -> None:
    held, used = read_cases("held_out"), read_cases("example")
    both = [*held, *used]
    assert len(both) >= 240
    assert len({case.lang for case in held}) >= 5
    assert len(held) >= 190
    assert sum(case.tool is None for case in held) >= 40
    assert len({case.text.casefold() for case in both}) == len(both)


def test_no_held_out_request_is_an_example_or_nearly_one() -> None:
    languages = load_languages()
    marker = Marker(Arithmetic(one.words for one in languages.values()))
    examples = [
        text
        for language in languages.values()
        for templates in language.examples.values()
        for template in templates
        for text in filled(template)
    ]
    examples += [case.text for case in read_cases("example")]
    known = {_triples(marker, text) for text in examples}
    having: dict[str, list[frozenset[str]]] = {}
    for one in known:
        for triple in one:
            having.setdefault(triple, []).append(one)
    for case in read_cases("held_out"):
        asked = _triples(marker, case.text)
        common = Counter(one for triple in asked for one in having.get(triple, ()))
        nearest = max((2 * n / (len(asked) + len(one)) for one, n in common.items()), default=0)
        assert nearest < ALIKE, case.text


def _triples(marker: Marker, text: str) -> frozenset[str]:
    """The letter triples of a request, its paths, numbers and quotes set aside."""
    bare = " ".join(re.findall(r"\w+", plain(masked(text, marker.find(text)))))
    return frozenset(f" {bare} "[at : at + 3] for at in range(len(bare)))
