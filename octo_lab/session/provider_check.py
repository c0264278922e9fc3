"""Answers whether a provider works, with what to do when it does not."""

from __future__ import annotations

from dataclasses import replace

from octo_lab.core.errors import (
    AuthRejected,
    OctoError,
    ProviderError,
    QuotaExceeded,
    RateLimited,
    TimedOut,
    Unavailable,
)
from octo_lab.core.mail import CheckProvider
from octo_lab.core.replies import ProviderCheck
from octo_lab.llm.check import PATIENCE, check
from octo_lab.session.models import ChosenModel, ModelSource


async def provider_check(models: ModelSource, wanted: CheckProvider) -> ProviderCheck:
    """Ask once; raises an OctoError only where nothing can be asked."""
    chosen = await models.alone(wanted.name)
    found = await check(chosen.provider, max(1.0, min(wanted.patience, PATIENCE)))
    sources = models.connection(chosen)
    done = ProviderCheck(
        name=chosen.name,
        answer=found.answer,
        usage=found.usage,
        first=found.first,
        seconds=found.seconds,
        sources=sources,
    )
    return _failed(done, found.error, chosen) if found.error else done


def _failed(done: ProviderCheck, error: OctoError, chosen: ChosenModel) -> ProviderCheck:
    kind = error.kind if isinstance(error, ProviderError) else "config"
    hint = "; ".join(filter(None, (error.hint, _next_step(error, done, chosen))))
    return replace(done, error=error.message, kind=kind, hint=hint)


def _next_step(error: OctoError, done: ProviderCheck, chosen: ChosenModel) -> str:
    """What to look at in this setup, where the error's own hint is general."""
    key, url = done.sources.get("key", ""), done.sources.get("base URL", "")
    match error:
        case AuthRejected():
            return f"it was asked with the key {key}" if key else "no key was sent"
        case QuotaExceeded() | RateLimited():
            return "the key is right: the account's limit is reached"
        case TimedOut() | Unavailable() if url:
            return f"it was asked at {url}"
        case _:
            return f"`octo models` lists what {chosen.provider.name!r} has"
