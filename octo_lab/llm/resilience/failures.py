"""Which failures say something about a provider, and which another provider may mend."""

from __future__ import annotations

from octo_lab.core.errors import BadRequest, ProviderError


def blames(error: ProviderError) -> bool:
    """Whether the provider is in trouble; a refused request or answer says nothing of it."""
    return passes_on(error) and not isinstance(error, BadRequest)


def passes_on(error: ProviderError) -> bool:
    """Whether another provider may answer."""
    return error.failover or error.retryable
