"""One local model at a time: loaded on first use, exchanged when nobody uses it."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager

import anyio

from octo_lab.core.errors import RateLimited
from octo_lab.llm.local.process import LlamaProcess, ModelSpec


class ModelDesk:
    """Holds the model that is loaded; ``aclose`` ends it."""

    def __init__(self) -> None:
        self._loading = anyio.Lock()
        self._server: LlamaProcess | None = None
        self._users = 0

    def holds(self, spec: ModelSpec) -> bool:
        server = self._server
        return server is not None and server.spec == spec and server.alive

    @property
    def server(self) -> LlamaProcess | None:
        """The one that runs, if any."""
        return self._server

    @asynccontextmanager
    async def serving(self, spec: ModelSpec) -> AsyncGenerator[LlamaProcess]:
        """The server of this model, loaded if it is not; it stays until the context is left.

        Raises RateLimited while another model answers, ProviderError when it cannot be loaded.
        """
        async with self._loading:
            server = await self._of(spec)
            self._users += 1
        try:
            yield server
        finally:
            self._users -= 1

    async def aclose(self) -> None:
        server, self._server = self._server, None
        if server is not None:
            await server.aclose()

    async def _of(self, spec: ModelSpec) -> LlamaProcess:
        server = self._server
        if server is not None and self.holds(spec):
            return server
        if server is not None and server.alive and self._users:
            raise RateLimited(
                f"The local model {server.spec.name!r} is answering, and only one runs at a time",
                hint=f"wait for its end, then ask {spec.name!r}",
            )
        await self.aclose()
        fresh = LlamaProcess(spec)
        await fresh.start()
        self._server = fresh
        return fresh
