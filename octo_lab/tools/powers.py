"""What the runtime lends to tools that reach beyond the files of the workspace."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from octo_lab.security.net.dial import Dialer
from octo_lab.security.net.ports import Fetcher
from octo_lab.tools.browser.browsers import Browsers
from octo_lab.tools.camera import Camera
from octo_lab.tools.exec_env import ExecEnvironment
from octo_lab.tools.sandbox.programs import Programs


@dataclass(frozen=True, slots=True, kw_only=True)
class Powers:
    """Given to a tool when it is made.

    ``environ`` are the owner's variables, for keys of services; ``options`` are what was set for
    tools, by tool and name (``web_search`` → ``count``). ``programs`` are those that go on
    running between calls; None where none can. ``network``: whether commands reach one,
    as far as it was set; ``walls``: whether it is sure by now that they reach nothing outside,
    which ``ready`` finds out.
    ``dialer`` is the guarded way out of ``web``, for a proxy that programs go through;
    ``browsers`` have one each. None where none can run.
    """

    exec: ExecEnvironment
    web: Fetcher
    environ: Mapping[str, str] = field(default_factory=dict, repr=False)
    options: dict[str, dict[str, Any]] = field(default_factory=dict)
    programs: Programs | None = None
    network: bool = False
    walls: Callable[[], bool] = lambda: False
    ready: Callable[[], Awaitable[object]] | None = None
    dialer: Dialer = Dialer()
    browsers: Browsers | None = None
    camera: Camera = Camera(missing="no camera can be used here")
