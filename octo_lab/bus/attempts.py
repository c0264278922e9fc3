"""Trying to deliver: a time limit for each try, another try only after a passing failure."""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable
from dataclasses import dataclass

import anyio

from octo_lab.core.errors import DeliveryError, DeliveryRejected

Send = Callable[[], Awaitable[None]]

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class SendPolicy:
    """Seconds one try may take, and seconds to wait before each further try."""

    timeout: float = 30.0
    delays: tuple[float, ...] = (1.0, 2.0)


async def attempt(send: Send, policy: SendPolicy) -> None:
    """Send, again after a DeliveryError; raises the last error.

    A try that ran out of time is not repeated: what it sent may have arrived.
    """
    for delay in policy.delays:
        try:
            return await once(send, policy.timeout)
        except DeliveryRejected:
            raise
        except DeliveryError:
            await anyio.sleep(delay)
    return await once(send, policy.timeout)


async def once(send: Send, seconds: float) -> None:
    """Send one time; every failure is a DeliveryError, a defect of the channel is logged."""
    try:
        with anyio.fail_after(seconds):
            await send()
    except DeliveryError:
        raise
    except TimeoutError:
        raise DeliveryRejected(f"The channel did not finish within {seconds:g} s") from None
    except Exception as exc:
        logger.exception("a channel failed")
        raise DeliveryRejected("The channel failed", hint="see the log in the data folder") from exc
