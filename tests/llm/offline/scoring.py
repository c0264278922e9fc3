"""Judges one request of the corpus: was the right tool called with the right arguments?"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from octo_lab.llm.offline.languages import load_languages
from octo_lab.tools.builtin.octo_docs import find_passages
from octo_lab.tools.tool import Tool
from tests.llm.offline.world import Answered, World, ask, make_namespace

LANGUAGES = load_languages()


def phrases(*situations: str) -> list[str]:
    """What is said in these situations, in every language."""
    return [one.say[what] for one in LANGUAGES.values() for what in situations]


CORPUS = Path(__file__).with_name("requests.jsonl")
# To look what is there before saying no is no answer; anything else is.
_REFUSES = re.compile("|".join(map(re.escape, phrases("sorry", "hello", "thanks", "no_frame"))))
_LOOKS = ("inspect", "list_variables")  # what they show is enough for some answers
_FREE = ("limit", "context", "ignore_case")


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """One request. ``tool`` None: the answer must be a refusal, or a phrase like a greeting."""

    text: str
    lang: str
    split: str
    tool: str | None
    expect: Mapping[str, Any] = field(default_factory=dict)


def read_cases(split: str, corpus: Path = CORPUS) -> list[Case]:
    cases = [Case(**json.loads(line)) for line in corpus.read_text("utf-8").splitlines()]
    return [case for case in cases if case.split == split]


async def judged(case: Case, world: World, extra: Sequence[Tool] = ()) -> str:
    """What was wrong, or "" when nothing was; ``extra`` tools are offered beside the world's."""
    world.namespace, world.values = make_namespace(), []
    answered = await ask(world, case.text, tools=(*world.tools(), *extra))
    if "phrase" in case.expect:
        said = phrases(str(case.expect["phrase"]))
        return "" if answered.text.startswith(tuple(said)) else f"said {answered.text[:60]!r}"
    if case.tool is None:
        refused = not [call for call in answered.calls if call.name != "list_variables"]
        return "" if refused and _REFUSES.search(answered.text) else f"called {_made(answered)}"
    if not answered.calls:
        return f"no call: {answered.text[:60]!r}"
    last = answered.calls[-1]
    if "says" in case.expect:
        told = last.name in _LOOKS and all(part in answered.text for part in case.expect["says"])
        return "" if told else f"called {_made(answered)} said {answered.text[:60]!r}"
    if last.name != case.tool:
        return f"called {_made(answered)}"
    if answered.results[-1].outcome != "ok" and case.tool == "python":
        return f"failed: {_made(answered)}"
    fits = _fits(case, json.loads(last.arguments), world)
    return "" if fits else f"arguments: {_made(answered)}"


def _made(answered: Answered) -> str:
    return " ".join(f"{call.name}{call.arguments}" for call in answered.calls)


def _fits(case: Case, arguments: dict[str, Any], world: World) -> bool:
    match case.expect:
        case {"arguments": wanted}:
            return _neutral(arguments) == _neutral(wanted)
        case {"page": page}:
            found = find_passages(str(arguments["query"]))
            return found[0].page == str(page)
        case {"rows": [frame, count]}:
            return bool(world.values[-1].equals(world.namespace[frame].head(count)))
        case {"value": wanted}:
            return bool(_plain(world.values[-1]) == wanted)
    raise AssertionError(f"{case.text!r} expects nothing that can be checked")


def _neutral(arguments: Mapping[str, Any]) -> dict[str, Any]:
    kept = {key: value for key, value in arguments.items() if key not in _FREE}
    if str(kept.get("path", ".")).rstrip("/") in ("", "."):
        kept.pop("path", None)
    return kept


def _plain(value: Any) -> Any:
    match value:
        case pd.Series():
            return {key: _plain(item) for key, item in value.to_dict().items()}
        case np.generic():
            return value.item()
        case tuple() | list() | set() | np.ndarray() | pd.api.extensions.ExtensionArray():
            return [_plain(item) for item in value]
    return value
