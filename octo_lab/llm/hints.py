"""What a model is known to want, told from its name."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, fields, replace
from functools import cache
from typing import Any, Literal, get_args, get_type_hints

from octo_lab.core.errors import ConfigError

Override = tuple[str, bool | str]


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelHints:
    """What every dialect asks before it writes a request; a field the dialect lacks means nothing.

    - ``completion_tokens``: the limit's field has the longer name, ``max_completion_tokens``.
    - ``fixed_temperature``: the temperature must be left out.
    - ``vision``: pictures may be sent; else they are mentioned.
    - ``tools``: tools may be offered, and calls be in the transcript.
    - ``stop``: stop sequences may be sent.
    - ``stream_usage``: usage may be asked for with the stream.
    - ``merge_system``: system messages are joined into one.
    - ``system``: the role that instructions are sent in.
    - ``tool_choice``: what may be demanded: one tool by name, ``required``, or nothing at all.
    - ``structured``: how JSON is asked for: by its schema, as any object, or only in words.
    - ``strict``: a schema may be enforced to the letter.
    - ``effort``: how much to think may be told; ``minimal``: even as little as that.
    - ``reasoning``: earlier thinking is never sent back, sent back where this provider and model
      gave it, or sent with each assistant message, a stub where there was none.
    - ``replay_state``: private state may be sent back.
    - ``summaries``: a summary of the thinking may be asked for.
    - ``responses``: OpenAI's Responses API answers for it; its provider decides where that holds.
    """

    completion_tokens: bool = False
    fixed_temperature: bool = False
    vision: bool = True
    tools: bool = True
    stop: bool = True
    stream_usage: bool = True
    merge_system: bool = True
    system: Literal["system", "developer", "user"] = "system"
    tool_choice: Literal["name", "required", "auto"] = "name"
    structured: Literal["schema", "object", "words"] = "schema"
    strict: bool = True
    effort: bool = False
    minimal: bool = False
    reasoning: Literal["dropped", "kept", "stubbed"] = "dropped"
    replay_state: bool = True
    summaries: bool = True
    responses: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class _Known:
    """Models whose names start with one of ``starts``, hold one of ``parts``, or are ``exact``."""

    hints: Mapping[str, bool | str]
    starts: tuple[str, ...] = ()
    parts: tuple[str, ...] = ()
    exact: tuple[str, ...] = ()

    def fits(self, name: str) -> bool:
        if name in self.exact or any(part in name for part in self.parts):
            return True
        return bool(self.starts) and name.startswith(self.starts)


_O_SERIES = ("o1", "o3", "o4")
# All that fit apply, in order: a later row wins.
_TABLE = (
    _Known(hints={"completion_tokens": True}, starts=(*_O_SERIES, "gpt-5", "gpt-4.1")),
    _Known(
        hints={"fixed_temperature": True},
        starts=(*_O_SERIES, "gpt-5", "codex"),
        parts=("kimi-k2",),
        exact=("gpt-4.1-nano",),
    ),
    _Known(hints={"effort": True}, starts=(*_O_SERIES, "gpt-5", "gpt-oss", "codex")),
    _Known(hints={"effort": True}, parts=("claude",)),
    _Known(hints={"minimal": True}, starts=("gpt-5",)),
    _Known(hints={"minimal": False}, starts=("gpt-5.", "gpt-5-codex", "gpt-5-pro")),
    _Known(hints={"effort": False}, starts=("gpt-5-chat",)),
    _Known(
        hints={"responses": True},
        starts=(*_O_SERIES, "gpt-4.1", "gpt-5", "gpt-4o-mini", "gpt-4o-2"),
        parts=("codex",),
        exact=("gpt-4o",),
    ),
    _Known(
        hints={"responses": False},
        starts=("o1-mini", "o1-preview"),
        parts=("-audio", "-search", "-realtime", "-transcribe", "-tts"),
    ),
    _Known(hints={"stop": False}, starts=("o3", "o4", "gpt-5")),
    _Known(hints={"effort": True, "minimal": True}, starts=("gemini",)),
    _Known(
        hints={"effort": False},
        starts=("gemini-1", "gemini-2.0", "gemini-2.5-flash-image", "gemini-exp"),
    ),
    _Known(hints={"minimal": False}, starts=("gemini-3-pro", "gemini-3.1-pro", "gemini-pro")),
    _Known(hints={"effort": False, "system": "user"}, starts=("o1-mini", "o1-preview")),
    _Known(
        hints={"vision": False},
        starts=("deepseek", "minimax", "mistral", "yi-"),
        parts=("codestral", "kimi", "moonshot"),
    ),
    _Known(hints={"reasoning": "kept", "structured": "object"}, starts=("deepseek",)),
    _Known(hints={"reasoning": "kept", "structured": "object"}, starts=("glm",)),
    _Known(hints={"reasoning": "stubbed"}, parts=("kimi-k2",)),
)


def model_hints(model: str, overrides: Iterable[Override] = ()) -> ModelHints:
    """Hints for a model, with or without the vendor's path before its name.

    ``overrides`` win; raises ConfigError for one that is no hint or has no such value.
    """
    name = model.lower().rpartition("/")[2]
    told: dict[str, Any] = {}
    for known in _TABLE:
        if known.fits(name):
            told.update(known.hints)
    return replace(ModelHints(**told), **dict(map(_checked, overrides)))


def _checked(override: Override) -> tuple[str, Any]:
    name, value = override
    values = _values()
    if name not in values:
        near = difflib.get_close_matches(name, values, n=1)
        guess = f"did you mean {near[0]!r}? " if near else ""
        raise ConfigError(f"No hint is named {name!r}", hint=f"{guess}known: {', '.join(values)}")
    if value not in values[name] or not isinstance(value, type(values[name][0])):
        allowed = ", ".join(str(known).lower() for known in values[name])
        raise ConfigError(f"The hint {name!r} cannot be {value!r}", hint=f"it may be: {allowed}")
    return name, value


@cache
def _values() -> dict[str, tuple[bool | str, ...]]:
    """Every hint and what it may be."""
    types = get_type_hints(ModelHints)
    return {one.name: get_args(types[one.name]) or (True, False) for one in fields(ModelHints)}
