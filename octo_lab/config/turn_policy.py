"""What the settings say of turns, in the words of the session layer."""

from __future__ import annotations

from pathlib import Path

from octo_lab.agent.limits import Limits
from octo_lab.config.settings import Settings
from octo_lab.session.approvals import ApprovalPolicy
from octo_lab.session.ask import AskPolicy
from octo_lab.session.worker import WorkPolicy


def ask_policy(settings: Settings, *, workspace: Path, private: tuple[Path, ...]) -> AskPolicy:
    limits = settings.limits
    return AskPolicy(
        private=private,
        workspace=workspace,
        limits=Limits(iterations=limits.iterations, tokens=limits.tokens, seconds=limits.seconds),
        allow=settings.tools.allow,
        deny=settings.tools.deny,
        history=settings.session.history,
    )


def approval_policy(settings: Settings) -> ApprovalPolicy:
    return ApprovalPolicy(rules={"python": settings.tools.python})


def work_policy(settings: Settings) -> WorkPolicy:
    return WorkPolicy(queue=settings.session.queue, at_once=settings.session.workers)
