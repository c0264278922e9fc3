"""Finds the gateway that lives on a data folder."""

from __future__ import annotations

import time
from pathlib import Path

from octo_lab.core.errors import DeliveryError
from octo_lab.gateway.lock import gateway_pid
from octo_lab.web.endpoint import Endpoint, read_endpoint

START_WITHIN = 15.0


def find_gateway(folder: Path, *, wait: float = START_WITHIN) -> Endpoint | None:
    """Where it is, or None when there is none; waits while it starts. Raises DeliveryError."""
    until = time.monotonic() + wait
    while (pid := gateway_pid(folder)) is not None:
        endpoint = read_endpoint(folder)
        if endpoint is not None and endpoint.pid == pid:
            return endpoint
        if time.monotonic() >= until:
            raise DeliveryError(
                f"The gateway in process {pid} does not say where it listens",
                hint="wait until it has started, or stop it",
            )
        time.sleep(0.1)
    return None
