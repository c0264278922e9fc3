"""What the settings say of turns, in the words of the session layer."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from octo_lab.agent.limits import Limits
from octo_lab.agent.session_limits import SessionLimits
from octo_lab.config.settings import (
    Settings,
    ToolSettings,
    WorkspaceSettings,
)
from octo_lab.security.paths import Root
from octo_lab.security.private_names import PrivateNames
from octo_lab.session.approvals import ApprovalPolicy
from octo_lab.session.ask import AskPolicy
from octo_lab.session.compact import SessionCompaction
from octo_lab.session.privacy import Privacy
from octo_lab.session.worker import WorkPolicy
from octo_lab.tools.policy import ChannelTools
from octo_lab.tools.profiles import USUAL, ToolProfile


def ask_policy(
    settings: Settings,
    *,
    workspace: Path,
    private: tuple[Path, ...],
    secrets: Iterable[str] = (),
    known: bool = True,
) -> AskPolicy:
    """``secrets`` are looked up anew for each turn, and masked wherever they turn up; ``known``:
    the person made or trusts the workspace.
    """
    limits = settings.limits
    policy = AskPolicy(
        private=private,
        workspace=workspace,
        roots=roots_of(settings.workspace, workspace),
        soft=settings.workspace.mode == "soft",
        limits=Limits(
            iterations=limits.iterations,
            tokens=limits.tokens,
            seconds=limits.seconds,
            idle=limits.idle,
        ),
        allow=settings.tools.allow,
        deny=settings.tools.deny,
        channels=_channels(settings.tools),
        profiles=_profiles(settings.tools),
        history=settings.session.history,
        privacy=_privacy(settings, secrets),
        compaction=SessionCompaction(
            automatic=settings.session.compact, by=settings.session.compact_with
        ),
    )
    policy.prompt.known = known
    return policy


def roots_of(settings: WorkspaceSettings, workspace: Path) -> tuple[Root, ...]:
    """The other folders; those with a relative path are seen from the workspace."""
    return tuple(
        Root(path=workspace / Path(path).expanduser(), writable=access == "rw")
        for path, access in settings.roots.items()
    )


def _privacy(settings: Settings, secrets: Iterable[str]) -> Privacy:
    security = settings.security
    names = PrivateNames(paths=security.private_paths, variables=security.private_variables)
    return Privacy(
        secrets=secrets,
        names=names,
        trusted=security.trusted_hosts,
        reachable=settings.tools.hosts,
        shapes=security.mask_lookalikes,
    )


def approval_policy(settings: Settings) -> ApprovalPolicy:
    tools = settings.tools
    return ApprovalPolicy(
        rules={"python": tools.python, **tools.rules},
        risks={str(risk): rule for risk, rule in tools.risks.items()},
        hosts=tools.hosts,
        seconds=tools.approval_seconds,
    )


def _channels(tools: ToolSettings) -> dict[str, ChannelTools]:
    return {
        name: ChannelTools(origin=channel.origin, allow=channel.allow, deny=channel.deny)
        for name, channel in tools.channels.items()
    }


def _profiles(tools: ToolSettings) -> dict[str, ToolProfile]:
    own = {
        name: ToolProfile(
            prefer=profile.prefer,
            demote=profile.demote,
            extras=profile.extras,
            deny=profile.deny,
            aliases=profile.aliases,
        )
        for name, profile in tools.models.items()
    }
    return {**USUAL, **own}


def session_limits(settings: Settings) -> SessionLimits:
    limits = settings.limits
    return SessionLimits(turns=limits.turns, rounds=limits.rounds, calls=limits.calls)


def work_policy(settings: Settings) -> WorkPolicy:
    session = settings.session
    return WorkPolicy(
        queue=session.queue,
        at_once=session.workers,
        mode=session.queue_mode,
        escalates="queue_mode" not in session.model_fields_set,
        overflow=session.overflow,
        patience=session.patience,
    )
