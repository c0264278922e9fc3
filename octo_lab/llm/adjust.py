"""What a server's refusal says about its model: the hints to ask again with."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from octo_lab.llm.hints import ModelHints

Change = Callable[[ModelHints, str], Mapping[str, Any]]

# Kinds of error that say nothing, but hold words that do.
_CODES = re.compile(r"invalid_(?:request|parameter|argument|value|params?)(?:_error)?\b")
_NO = (
    r"unsupported|not support|n't support|unrecognized|unknown|unexpected|not permitted"
    r"|not allowed|extra (?:input|field)|unavailable|not available|invalid|not accept|forbid"
    r"|illegal|not enabled|not implemented|cannot|can't|only .{1,40}(?:allowed|supported)"
    r"|must be|must not|incompatible|not compatible|disabled|deprecated|no endpoints"
)
_ANY = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Rule:
    """Patterns: ``about`` what the server complains, what is its ``trouble``; and what helps."""

    about: str
    trouble: str = _NO
    unless: str = r"(?!)"
    change: Change

    def fits(self, said: str) -> bool:
        """Patterns are compiled when first used: a server that complains is rare."""
        about, trouble = re.search(self.about, said), re.search(self.trouble, said)
        return bool(about and trouble and not re.search(self.unless, said))


def adjusted(hints: ModelHints, complaint: str) -> ModelHints | None:
    """The hints that the complaint, in lower case, asks for; None when it explains nothing new."""
    said = _CODES.sub(" ", complaint)
    for rule in _RULES:
        if rule.fits(said):
            changed = replace(hints, **rule.change(hints, said))
            if changed != hints:
                return changed
    return None


def remark(before: ModelHints, after: ModelHints) -> str:
    """What a person should know of an adjustment; '' when it costs nothing."""
    if before.tools and not after.tools:
        return "cannot use tools: it answers without them"
    if before.vision and not after.vision:
        return "takes no pictures: they are only mentioned"
    return ""


def _to(**values: bool | str) -> Change:
    return lambda _hints, _said: values


def _demand_less(hints: ModelHints, said: str) -> Mapping[str, Any]:
    by_name = hints.tool_choice == "name" and "required" not in said
    return {"tool_choice": "required" if by_name else "auto"}


def _ask_in_words(hints: ModelHints, _said: str) -> Mapping[str, Any]:
    return {"structured": "object" if hints.structured == "schema" else "words"}


def _think_otherwise(hints: ModelHints, said: str) -> Mapping[str, Any]:
    return {"minimal": False} if hints.minimal and "minimal" in said else {"effort": False}


def _instruct_otherwise(hints: ModelHints, _said: str) -> Mapping[str, Any]:
    return {"system": "system" if hints.system == "developer" else "user"}


_COMPLETION = r"\bmax_completion_tokens\b"
_INSTEAD = rf"use .{{0,3}}{_COMPLETION}"
_RULES = (
    _Rule(about=_INSTEAD, trouble=_ANY, change=_to(completion_tokens=True)),
    _Rule(about=_COMPLETION, change=_to(completion_tokens=False)),
    _Rule(about=r"\bmax_tokens\b", change=_to(completion_tokens=True)),
    _Rule(about=r"\btemperature\b", change=_to(fixed_temperature=True)),
    _Rule(
        about=r"reasoning_content|reasoning_details",
        trouble=rf"remove|should not|{_NO}",
        unless=r"missing|empty|must be (?!absent|removed)|required",
        change=_to(reasoning="dropped"),
    ),
    _Rule(
        about=r"reasoning_content",
        trouble=r"missing|empty|must|required|need|should|passed back",
        unless=r"remove|should not|must not be (?:sent|present|included)|not permitted",
        change=_to(reasoning="stubbed"),
    ),
    _Rule(
        about=r"signature|encrypted[_ ]content|redacted_thinking|thinking. blocks?\b",
        unless=r"missing a thought",
        trouble=rf"modif|verif|match|expected|not found|{_NO}",
        change=_to(replay_state=False),
    ),
    _Rule(  # Gemini's dialect then says of every call that it has none
        about=r"thought[_ ]?signature",
        trouble=r"missing",
        change=_to(replay_state=False),
    ),
    _Rule(  # the Responses API, of items that lost their company
        about=r"of type 'reasoning'|required 'reasoning' item|items are not persisted",
        trouble=r"without its required|not found",
        change=_to(replay_state=False),
    ),
    _Rule(
        about=r"reasoning[_. ]summar",
        trouble=rf"must be verified|{_NO}",
        change=_to(summaries=False),
    ),
    _Rule(about=r"stream_options|include_usage", change=_to(stream_usage=False)),
    _Rule(
        about=r"tool[_ ]?choice",
        unless=r"auto-tool-choice",
        change=_demand_less,
    ),
    _Rule(
        about=r"\bstrict\b|additionalproperties|'required' is required",
        trouble=rf"required|{_NO}",
        change=_to(strict=False),
    ),
    _Rule(
        about=(
            r"response[_ ]format|json_schema|json_object|structured output|json mode"
            r"|\boutput_config\b(?!\.effort)"
        ),
        change=_ask_in_words,
    ),
    _Rule(
        about=(
            r"reasoning[_. ]effort|\beffort\b|thinking[_ ]?(?:level|budget|config)|thinking is not"
        ),
        change=_think_otherwise,
    ),
    _Rule(about=r"\bstop(?:_?sequences)?\b", change=_to(stop=False)),
    _Rule(
        about=r"\bdeveloper\b|\bsystem\b.{0,40}\b(?:role|message|prompt|instruction)",
        unless=r"multiple|beginning|first",
        change=_instruct_otherwise,
    ),
    _Rule(
        about=r"role.{0,60}\bsystem\b|only user and assistant roles",
        trouble=rf"only|{_NO}",
        unless=r"multiple|beginning|first",
        change=_instruct_otherwise,
    ),
    _Rule(
        about=r"\bsystem\b",
        trouble=r"multiple|beginning|must be first|only one",
        change=_to(merge_system=True),
    ),
    _Rule(
        about=r"\bimages?\b|image_url|\bvision\b|multi-?modal",
        trouble=rf"is not|{_NO}",
        unless=r"too large|format|exceed|decode|download|process|size",
        change=_to(vision=False),
    ),
    _Rule(
        about=(
            r"support (?:tools|tool use|tool call|function)|tools?\W{0,2} (?:is|are) not supported"
            r"|function calling|auto-tool-choice"
        ),
        trouble=rf"not|no |requires|{_NO}",
        change=_to(tools=False),
    ),
)
