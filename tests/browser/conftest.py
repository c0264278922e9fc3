"""A Jupyter server, a browser and a scripted model for the browser tests."""

from __future__ import annotations

import shutil
from collections.abc import Iterator, Sequence
from itertools import count
from pathlib import Path

import pytest
from playwright.sync_api import Browser, BrowserContext, expect, sync_playwright

from octo_lab.testing.llm_server import LlmServer
from tests.browser.notebook_page import Face, NotebookPage, Open, write_notebook
from tests.browser.server import Jupyter, jupyter_server

BROWSERS = (
    "chromium",
    "google-chrome",
    "chromium-browser",
    "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome",
)
ARGUMENTS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--disable-dev-shm-usage",
]
WAIT = 20_000
_numbers = count(1)
expect.set_options(timeout=WAIT)


def browser_executable() -> str:
    """The installed Chromium or Chrome; a test marked ``browser`` is skipped without one."""
    return next(filter(None, map(shutil.which, BROWSERS)))


@pytest.fixture(autouse=True)
def no_blocking_calls() -> None:
    """Nothing to watch: octo_lab runs in other processes, and a test may wait for the model."""


@pytest.fixture(scope="session")
def model_server() -> Iterator[LlmServer]:
    with LlmServer() as server:
        yield server


@pytest.fixture
def model(model_server: LlmServer) -> Iterator[LlmServer]:
    """The model every kernel of the session talks to; a test scripts its answers."""
    yield model_server
    model_server.forget()


@pytest.fixture(scope="session")
def jupyter(model_server: LlmServer, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Jupyter]:
    folder = tmp_path_factory.mktemp("jupyter")
    keys = {"OPENAI_BASE_URL": model_server.base_url, "OPENAI_API_KEY": "sk-test"}
    with jupyter_server(folder, **keys) as server:
        yield server


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """Closed with its module: while it is open, no other loop can run in this thread."""
    with sync_playwright() as playwright:
        running = playwright.chromium.launch(executable_path=browser_executable(), args=ARGUMENTS)
        yield running
        running.close()


@pytest.fixture
def context(browser: Browser) -> Iterator[BrowserContext]:
    opened = browser.new_context(viewport={"width": 1280, "height": 900})
    opened.set_default_timeout(WAIT)
    yield opened
    opened.close()


@pytest.fixture
def open_notebook(context: BrowserContext, jupyter: Jupyter) -> Open:
    """Open a new notebook with the given cells in JupyterLab or Notebook 7."""

    def open_one(face: Face, cells: Sequence[str], kernel: str = "octo") -> NotebookPage:
        path: Path = jupyter.notebooks / f"test{next(_numbers)}.ipynb"
        write_notebook(path, cells, kernel)
        notebook = NotebookPage(context.new_page(), jupyter, face, path)
        notebook.load()
        return notebook

    return open_one
