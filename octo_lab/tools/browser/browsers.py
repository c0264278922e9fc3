"""The browsers of the conversations: each with one owner, ended when unused, with us at last."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

import anyio
import anyio.to_thread
from anyio.abc import TaskGroup

from octo_lab.core.errors import ToolFailed
from octo_lab.security.net.dial import Dialer
from octo_lab.security.net.proxy import forward_proxy
from octo_lab.tools.browser.found import Found, sure
from octo_lab.tools.browser.running import Running, open_browser

MOST = 3

log = logging.getLogger(__name__)


@dataclass(slots=True, kw_only=True)
class Owned:
    """One conversation's browser and the task that owns it; ``failure`` says why it is not open."""

    used: float
    scope: anyio.CancelScope = field(default_factory=anyio.CancelScope)
    turn: anyio.Lock = field(default_factory=anyio.Lock)
    ready: anyio.Event = field(default_factory=anyio.Event)
    ended: anyio.Event = field(default_factory=anyio.Event)
    running: Running | None = None
    failure: str = ""


class Browsers:
    """Opens one for a conversation when it is first used. Each is a task of ``tasks``.

    ``seconds`` (for an action) and ``idle`` may change: they hold for the next one that opens.
    """

    def __init__(
        self,
        found: Found,
        dialer: Dialer,
        tasks: TaskGroup,
        *,
        environ: Mapping[str, str],
        seconds: float = 10.0,
        idle: float = 300.0,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.found = found
        self.dialer = dialer
        self._tasks = tasks
        self._environ = environ
        self.seconds = seconds
        self.idle = idle
        self._clock = clock
        self._owned: dict[str, Owned] = {}

    def open(self, session: str) -> Owned | None:
        """The browser of a conversation, if it has one."""
        return self._owned.get(session)

    async def get(self, session: str) -> Owned:
        """The browser of a conversation, opened if need be; raises ToolFailed."""
        if self.found.missing:
            raise ToolFailed(f"There is no browser: {self.found.missing}")
        owned = self._owned.get(session)
        if owned is None:
            if len(self._owned) >= MOST:
                raise ToolFailed(
                    f"{MOST} browsers are open already", hint="close one, or wait until it ends"
                )
            owned = self._owned[session] = Owned(used=self._clock())
            self._tasks.start_soon(self._own, session, owned)
        owned.used = self._clock()
        await owned.ready.wait()
        if owned.running is None:
            raise ToolFailed(owned.failure or "The browser was closed")
        return owned

    async def close(self, session: str) -> bool:
        """End it, and return when it is gone; False when there was none."""
        owned = self._owned.get(session)
        if owned is None:
            return False
        owned.scope.cancel()
        await owned.ended.wait()
        return True

    async def _own(self, session: str, owned: Owned) -> None:
        try:
            with owned.scope:
                found = await anyio.to_thread.run_sync(sure, self.found)
                async with (
                    forward_proxy(self.dialer) as proxy,
                    open_browser(found, proxy, self._environ, self.seconds) as running,
                ):
                    owned.running = running
                    running.page.on("crash", lambda _: owned.scope.cancel())
                    running.page.context.on("close", lambda _: owned.scope.cancel())
                    owned.ready.set()
                    await self._unused(owned)
        except ToolFailed as exc:
            owned.failure = str(exc)
        except Exception as exc:
            log.warning("A browser failed", exc_info=exc)
            owned.failure = f"The browser failed: {type(exc).__name__}"
        finally:
            owned.running = None
            self._owned.pop(session, None)
            owned.ready.set()
            owned.ended.set()

    async def _unused(self, owned: Owned) -> None:
        left = self.idle
        while left > 0:
            await anyio.sleep(left)
            left = owned.used + self.idle - self._clock()
