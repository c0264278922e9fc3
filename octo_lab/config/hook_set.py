"""The hooks that the settings name, ready to run: outside the walls, with scrubbed variables."""

from __future__ import annotations

from dataclasses import replace

from octo_lab.agent.hooks import Hook, HookSet
from octo_lab.config.settings import HookSettings, Settings
from octo_lab.tools.sandbox.local import Home, LocalExec
from octo_lab.tools.sandbox.policy import SandboxPolicy


def hook_set(home: Home, settings: Settings) -> HookSet | None:
    """None where no hook is set."""
    if not settings.hooks:
        return None
    unwalled = replace(home, policy=SandboxPolicy(mode="none", allow=home.policy.allow))
    where = home.environ.get("HOME", "")
    return HookSet([_hook(each) for each in settings.hooks], LocalExec(unwalled), where)


def _hook(settings: HookSettings) -> Hook:
    return Hook(
        event=settings.event,
        command=settings.command,
        timeout=settings.timeout_ms / 1000,
        tools=settings.tool_filter,
    )
