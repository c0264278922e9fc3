"""One Jupyter server for JupyterLab and Notebook 7, in folders of its own."""

from __future__ import annotations

import json
import os
import secrets
import shutil
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[2]
OPTIONS = (
    "--no-browser",
    "--allow-root",
    "--ip=127.0.0.1",
    "--ServerApp.port_retries=0",
    "--LabApp.news_url=None",
    "--LabApp.check_for_updates_class=jupyterlab.NeverCheckForUpdate",
    "--LabApp.extension_manager=readonly",
    "--LabApp.expose_app_in_browser=True",
    "--JupyterNotebookApp.expose_app_in_browser=True",
)
START_SECONDS = 60


@dataclass(frozen=True, slots=True, kw_only=True)
class Jupyter:
    """A running server. ``notebooks`` is its root folder and the workspace of its kernels."""

    url: str
    token: str
    notebooks: Path
    settings: Path
    log: Path


@contextmanager
def jupyter_server(folder: Path, **environ: str) -> Iterator[Jupyter]:
    """Start a server whose kernels see ``environ``; end it and its kernels at exit."""
    server = _prepared(folder)
    command = [
        *(sys.executable, "-c", _START),
        *OPTIONS,
        f"--port={server.url.rsplit(':', 1)[1]}",
        f"--IdentityProvider.token={server.token}",
        f"--ServerApp.root_dir={server.notebooks}",
    ]
    with server.log.open("wb") as log:
        process = subprocess.Popen(
            command, env=_environ(folder, environ), stdout=log, stderr=log, cwd=server.notebooks
        )
        try:
            _wait_until_up(server, process)
            yield server
        finally:
            process.terminate()
            try:
                process.wait(15)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()


_START = "from jupyterlab.labapp import main; main()"


def _prepared(folder: Path) -> Jupyter:
    notebooks, settings = folder / "notebooks", folder / "settings"
    notebooks.mkdir(parents=True)
    shutil.copytree(ROOT / "kernels" / "octo", folder / "data" / "kernels" / "octo")
    _write_setting(settings, "apputils-extension/notification", fetchNews="false")
    return Jupyter(
        url=f"http://127.0.0.1:{_free_port()}",
        token=secrets.token_hex(16),
        notebooks=notebooks,
        settings=settings,
        log=folder / "jupyter.log",
    )


def _write_setting(settings: Path, plugin: str, **values: object) -> None:
    path = settings / "@jupyterlab" / f"{plugin}.jupyterlab-settings"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(values), encoding="utf-8")


def set_theme(server: Jupyter, name: str) -> None:
    """``JupyterLab Light`` or ``JupyterLab Dark``, from the next page load on."""
    _write_setting(server.settings, "apputils-extension/themes", theme=name)


def _environ(folder: Path, more: dict[str, str]) -> dict[str, str]:
    own = {
        "JUPYTER_CONFIG_DIR": folder / "config",
        "JUPYTER_DATA_DIR": folder / "data",
        "JUPYTER_RUNTIME_DIR": folder / "runtime",
        "IPYTHONDIR": folder / "ipython",
        "JUPYTERLAB_SETTINGS_DIR": folder / "settings",
        "JUPYTERLAB_WORKSPACES_DIR": folder / "workspaces",
        "OCTO_HOME": folder / "octo",
    }
    path = f"{ROOT}{os.pathsep}{os.environ.get('PYTHONPATH', '')}".rstrip(os.pathsep)
    paths = {name: str(value) for name, value in own.items()}
    return {**os.environ, **paths, "PYTHONPATH": path, **more}


def _free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        return int(listener.getsockname()[1])


def _wait_until_up(server: Jupyter, process: subprocess.Popen[bytes]) -> None:
    deadline = time.monotonic() + START_SECONDS
    while time.monotonic() < deadline and process.poll() is None:
        try:
            with urllib.request.urlopen(f"{server.url}/api?token={server.token}", timeout=5):
                return
        except (urllib.error.URLError, OSError):
            time.sleep(0.2)
    raise RuntimeError(f"Jupyter did not start:\n{server.log.read_text(errors='replace')[-4000:]}")
