"""Runs the owner's programs before and after tools and models: each may look, some may say no."""

from __future__ import annotations

import json
import logging
import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase
from typing import Any, Literal

from octo_lab.agent.hook_payload import (
    ARGUMENTS_BYTES,
    HookPayload,
    after_model,
    after_tool,
    before_model,
    before_tool,
    rewritten,
)
from octo_lab.agent.ports import ModelAnswered, ModelAsked, Permission
from octo_lab.core.errors import OctoError
from octo_lab.core.messages import Message, ToolCall
from octo_lab.core.text import clean, first_line
from octo_lab.security.redact import Redactor
from octo_lab.tools.exec_env import ExecEnvironment, Executed, Execution

HookEvent = Literal["before_tool_call", "after_tool_call", "before_llm_call", "after_llm_call"]
ALLOW, DENY, REWRITE = 0, 1, 2
BREAKS_AFTER = 3
_OUTPUT = 4 * ARGUMENTS_BYTES  # as many escapes as may stand for what a hook is told
_REASON = 1000
_NO_OBJECT = "exit code 2, but no JSON object of up to 1 MB on its standard output"

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class Hook:
    """One program, as an argument list; ``tools`` are name patterns, none means every tool."""

    event: HookEvent
    command: tuple[str, ...]
    timeout: float = 5.0
    tools: tuple[str, ...] = ()

    def wants(self, event: HookEvent, tool: str) -> bool:
        named = not tool or not self.tools or any(fnmatchcase(tool, each) for each in self.tools)
        return self.event == event and named


@dataclass(slots=True)
class _Kept:
    """A hook and how often it has failed in a row."""

    hook: Hook
    failures: int = 0

    @property
    def broken(self) -> bool:
        return self.failures >= BREAKS_AFTER


@dataclass(frozen=True, slots=True, kw_only=True)
class HookScope:
    """The turn that hooks run for; ``spent`` are the dollars its session had cost before it.

    ``tell`` gets lines for the person, ``mask`` hides what hooks are not told.
    """

    session: str
    profile: str
    tell: Callable[[str], None]
    mask: Redactor
    spent: float = 0.0


class HookSet:
    """All hooks there are, in order. One that fails three times in a row is left alone then."""

    def __init__(self, hooks: Sequence[Hook], environment: ExecEnvironment, home: str) -> None:
        self._kept = [_Kept(_expanded(hook, home)) for hook in hooks]
        self._environment = environment

    def chosen(self, event: HookEvent, tool: str = "") -> list[_Kept]:
        return [k for k in self._kept if not k.broken and k.hook.wants(event, tool)]

    async def run(self, kept: _Kept, payload: HookPayload, scope: HookScope) -> Executed | None:
        """Run one hook; None when it failed, which is counted and told."""
        told = {"event": kept.hook.event, **payload}
        told |= {"session_id": scope.session, "profile_id": scope.profile}
        execution = Execution(
            argv=kept.hook.command,
            stdin=clean(json.dumps(told, ensure_ascii=False)).encode(),
            timeout=kept.hook.timeout,
            output=_OUTPUT,
        )
        try:
            ran = await self._environment.exec(execution)
        except OctoError as exc:
            self._failed(kept, str(exc), scope)
            return None
        problem = _problem(kept.hook, ran)
        if problem:
            self._failed(kept, problem, scope)
            return None
        kept.failures = 0
        return ran

    def _failed(self, kept: _Kept, why: str, scope: HookScope) -> None:
        kept.failures += 1
        name = " ".join(kept.hook.command)[:200]
        logger.warning("the hook %r (%s) failed: %s", name, kept.hook.event, why)
        if kept.broken:
            scope.tell(
                f"The hook {name!r} failed {BREAKS_AFTER} times in a row and is not run any more: "
                f"{why}. Restart to try it again."
            )
        elif kept.failures == 1:
            scope.tell(f"The hook {name!r} failed{_open(kept.hook)}: {why}.")


@dataclass(frozen=True, slots=True, kw_only=True)
class TurnHooks:
    """The hooks of one turn: first denial wins, arguments may be rewritten by one after another."""

    hooks: HookSet
    scope: HookScope

    async def before_tool(self, call: ToolCall) -> Permission:
        for kept in self.hooks.chosen("before_tool_call", call.name):
            ran = await self.hooks.run(kept, before_tool(call, self.scope.mask), self.scope)
            if ran is None:
                continue
            if ran.code == DENY:
                return Permission(call=call, refused=_reason(ran))
            if ran.code == REWRITE:
                call = rewritten(call, _object(ran) or {}, self.scope.mask)
        return Permission(call=call)

    async def after_tool(self, call: ToolCall, result: Message) -> None:
        for kept in self.hooks.chosen("after_tool_call", call.name):
            told = after_tool(call, result, self.scope.mask)
            await self.hooks.run(kept, told, self.scope)

    async def before_model(self, asked: ModelAsked) -> str | None:
        for kept in self.hooks.chosen("before_llm_call"):
            ran = await self.hooks.run(kept, before_model(asked), self.scope)
            if ran is not None and ran.code == DENY:
                return _reason(ran)
        return None

    async def after_model(self, answered: ModelAnswered) -> None:
        for kept in self.hooks.chosen("after_llm_call"):
            payload = after_model(answered, self.scope.spent)
            await self.hooks.run(kept, payload, self.scope)


def expand_home(word: str, home: str) -> str:
    """``~/`` is the owner's home, ``~name/`` that of another user where there is one."""
    if word == "~" or word.startswith("~/"):
        return home + word[1:] if home else word
    return os.path.expanduser(word) if word.startswith("~") else word  # noqa: PTH111


def _open(hook: Hook) -> str:
    """What the failure of a hook means that may say no."""
    return ", so it denied nothing" if hook.event.startswith("before") else ""


def _expanded(hook: Hook, home: str) -> Hook:
    return replace(hook, command=tuple(expand_home(word, home) for word in hook.command))


def _problem(hook: Hook, ran: Executed) -> str:
    """Why a run counts as a failure, '' when it does not."""
    if ran.timed_out:
        return f"it took longer than {hook.timeout:g} s"
    if ran.code == ALLOW or (ran.code == DENY and hook.event.startswith("before")):
        return ""
    if ran.code == REWRITE and hook.event == "before_tool_call":
        return "" if _object(ran) is not None else _NO_OBJECT
    said = first_line(clean(ran.stderr.decode(errors="replace")), 200)
    return f"exit code {ran.code}{f': {said}' if said else ''}"


def _reason(ran: Executed) -> str:
    return clean(ran.stdout.decode(errors="replace")).strip()[:_REASON]


def _object(ran: Executed) -> dict[str, Any] | None:
    try:
        value = json.loads(ran.stdout)
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else None
