"""Decides which addresses of a host may be connected to."""

from __future__ import annotations

import ipaddress
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from socket import SOCK_STREAM

import anyio

from octo_lab.core.errors import ToolDenied, ToolFailed
from octo_lab.security.net.addresses import Address, why_special
from octo_lab.security.net.allowed import AllowedPlaces
from octo_lab.security.net.urls import as_address, shown_host

MAX_ADDRESSES = 16
Resolver = Callable[[str, int], Awaitable[Sequence[str]]]
"""Gives the addresses of a name, in the order to try them; raises OSError."""


async def resolve(host: str, port: int) -> list[str]:
    """Ask the system."""
    found = await anyio.getaddrinfo(host, port, type=SOCK_STREAM)
    return list(dict.fromkeys(str(where[0]) for *_, where in found))


@dataclass(frozen=True, slots=True, kw_only=True)
class Guard:
    """Fails closed: a host is refused as a whole when one of its addresses is not public.

    ``patience`` is how many seconds the resolver has.
    """

    allowed: AllowedPlaces = AllowedPlaces()
    resolve: Resolver = resolve
    patience: float = 10.0

    async def addresses(self, host: str, port: int) -> list[Address]:
        """Look the host up, once, and check all it has; whoever connects uses these, no name.

        ``host`` is one that ``parse_host`` gave. Raises ToolDenied, and ToolFailed when it cannot
        be resolved.
        """
        literal = as_address(host)
        found = [literal] if literal else await self._resolved(host, port)
        if not self.allowed.names(host, port):
            for address in found:
                self._check(address, host, port)
        return found

    async def _resolved(self, host: str, port: int) -> list[Address]:
        try:
            with anyio.fail_after(self.patience):
                found = await self.resolve(host, port)
            addresses = [ipaddress.ip_address(one) for one in found][:MAX_ADDRESSES]
        except TimeoutError:
            raise _unresolved(host, f"no answer within {self.patience:g} s") from None
        except (OSError, ValueError) as exc:
            raise _unresolved(host, "no such host is known here") from exc
        if not addresses:
            raise _unresolved(host, "it has no address")
        return addresses

    def _check(self, address: Address, host: str, port: int) -> None:
        why = why_special(address)
        if why and not self.allowed.holds(address, port):
            place = f"{shown_host(host)}:{port}"
            has = "it is" if str(address) == host else "it leads to"
            raise ToolDenied(
                f"{place!r} may not be reached: {has} {why}",
                hint=f'only the owner can allow it, by the setting network.allow = ["{place}"]',
            )


def _unresolved(host: str, why: str) -> ToolFailed:
    return ToolFailed(f"{host!r} could not be resolved: {why}", hint="check the spelling")
