"""``octo gateway``: the gateway's notebook under papermill, as a command."""

from __future__ import annotations

import logging
import sys
from dataclasses import dataclass
from pathlib import Path

from octo_lab.cli.connect import warned
from octo_lab.gateway.headless import run_notebook
from octo_lab.gateway.run import make_plan
from octo_lab.web.endpoint import Endpoint


@dataclass(frozen=True, slots=True, kw_only=True)
class GatewayOptions:
    workspace: Path | None = None
    config: Path | None = None
    channels: str = "web"
    host: str = ""
    port: int | None = None
    run_for: float = 0.0
    log_level: str = "INFO"
    output: Path | None = None
    kernel: str = "octo"


def run_gateway_command(options: GatewayOptions) -> None:
    """Until stopped. Raises an OctoError that names the next step."""
    logging.getLogger("papermill").setLevel(logging.WARNING)
    parameters = {
        "workspace": str(options.workspace.resolve()) if options.workspace else "",
        "config": str(options.config.resolve()) if options.config else "",
        "channels": options.channels,
        "host": options.host,
        "port": options.port,
        "run_for": options.run_for,
        "log_level": options.log_level,
    }
    plan = make_plan(
        workspace=str(parameters["workspace"]),
        config=str(parameters["config"]),
        host=options.host,
        port=options.port,
        run_for=options.run_for,
        log_level=options.log_level,
    )
    warned(plan.place)
    output = options.output or plan.place.data_folder / "gateway.ipynb"
    run_notebook(plan, parameters, output=output, kernel=options.kernel, started=_announce)
    sys.stderr.write(f"octo: gateway stopped; its notebook is {output}\n")


def _announce(endpoint: Endpoint) -> None:
    sys.stderr.write(f"octo: gateway at http://{endpoint.authority} (Ctrl-C stops it)\n")
    sys.stderr.flush()
