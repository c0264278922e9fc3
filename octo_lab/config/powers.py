"""What the settings lend to tools: commands behind walls, the guarded way to the network."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path

from octo_lab.bus.stage import stage
from octo_lab.config.settings import SandboxSettings
from octo_lab.core.errors import ToolDenied
from octo_lab.security.net.ports import WebRequest, WebResponse
from octo_lab.tools.powers import Powers
from octo_lab.tools.sandbox.local import Home, LocalExec
from octo_lab.tools.sandbox.policy import MIB, Bounds, SandboxPolicy
from octo_lab.tools.sandbox.programs import Programs


class _Closed:
    """A Fetcher that reaches nothing."""

    async def fetch(self, request: WebRequest) -> WebResponse:
        raise ToolDenied(f"{request.url!r} may not be reached: the network is closed to tools")


@asynccontextmanager
async def open_powers(home: Home) -> AsyncGenerator[Powers]:
    """Programs that go on running between calls are ended when this is left."""
    environment = LocalExec(home)
    async with stage() as tasks:
        yield Powers(
            exec=environment,
            web=_Closed(),
            environ=home.environ,
            programs=Programs(environment, tasks),
            network=home.policy.network or home.policy.mode == "none",
        )


def sandbox_policy(settings: SandboxSettings, workspace: Path) -> SandboxPolicy:
    """Folders are relative to the workspace."""
    return SandboxPolicy(
        mode=settings.mode,
        network=settings.network,
        bounds=Bounds(
            memory=settings.memory * MIB,
            file_size=settings.file_size * MIB,
            processes=settings.processes,
            cpus=settings.cpus,
        ),
        readable=tuple(workspace / Path(path).expanduser() for path in settings.readable),
        allow=settings.environ,
        image=settings.image,
        mounts=settings.mounts,
    )
