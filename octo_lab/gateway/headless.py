"""Runs the gateway's notebook under papermill with the engine ``octo``."""

from __future__ import annotations

import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import papermill  # type: ignore[import-untyped]
from jupyter_client.kernelspec import KernelSpecManager, NoSuchKernel
from papermill.exceptions import PapermillExecutionError  # type: ignore[import-untyped]

from octo_lab.core.errors import ConfigError, DeliveryError, OctoError
from octo_lab.gateway.find import find_gateway
from octo_lab.gateway.lock import sole_gateway
from octo_lab.gateway.run import Plan
from octo_lab.web.access import choose_access
from octo_lab.web.endpoint import Endpoint

NOTEBOOK = "gateway.ipynb"


def run_notebook(
    plan: Plan,
    parameters: dict[str, Any],
    *,
    output: Path,
    kernel: str,
    started: Callable[[Endpoint], object],
) -> None:
    """What ``papermill --engine octo notebooks/gateway.ipynb`` does, checked beforehand.

    ``started`` is called from another thread. Raises an OctoError; SystemExit when a signal
    came before the gateway ran.
    """
    _check(plan, kernel)
    threading.Thread(target=_announce, args=[plan.place.data_folder, started], daemon=True).start()
    try:
        papermill.execute_notebook(
            notebook_path(),
            output,
            parameters=parameters,
            engine_name="octo",
            kernel_name=kernel,
            progress_bar=False,
            extra_arguments=["--log-level=CRITICAL"],
        )
    except PapermillExecutionError as exc:
        said = exc.evalue or exc.ename
        hint = "" if said.endswith(")") else f"see {output}"  # an error of ours has its hint
        raise OctoError(f"The gateway failed: {said}", hint=hint) from None
    except RuntimeError as exc:  # nbclient's, when the process ends or never answers
        raise OctoError(
            f"The gateway's kernel ended: {exc}",
            hint="what was committed is kept; start it again with 'octo gateway'",
        ) from None


def notebook_path() -> Path:
    """The notebook: beside this module in a wheel, under ``notebooks/`` in the source tree."""
    shipped = Path(__file__).with_name(NOTEBOOK)
    return shipped if shipped.exists() else Path(__file__).parents[2] / "notebooks" / NOTEBOOK


def _check(plan: Plan, kernel: str) -> None:
    """Find here, where one line can say it, what would fail in the kernel."""
    choose_access(plan.host, plan.place.environ)
    with sole_gateway(plan.place.data_folder):
        pass
    try:
        KernelSpecManager().get_kernel_spec(kernel)
    except NoSuchKernel:
        raise ConfigError(
            f"No Jupyter kernel named {kernel!r}", hint="install it with 'octo kernel install'"
        ) from None


def _announce(folder: Path, started: Callable[[Endpoint], object]) -> None:
    for _ in range(600):
        try:
            endpoint = find_gateway(folder)
        except DeliveryError:
            return
        if endpoint is not None:
            started(endpoint)
            return
        threading.Event().wait(0.1)
