"""A notebook open in a browser: what a person does with it, in one call each."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from playwright.sync_api import Locator, Page

from tests.browser.server import Jupyter

Face = Literal["lab", "notebook"]
ARTIFACTS = Path(__file__).parents[2] / "artifacts"
_IDLE = """() => {
  const app = window.jupyterapp;
  const session = app?.shell.currentWidget?.sessionContext;
  return session?.isReady && session.session?.kernel?.status === 'idle';
}"""
_READY = "() => window.jupyterapp?.shell.currentWidget?.sessionContext?.isReady"
_RUN = """async (index) => {
  const app = window.jupyterapp;
  app.shell.currentWidget.content.activeCellIndex = index;
  await app.commands.execute('notebook:run-cell');
}"""


@dataclass(frozen=True, slots=True)
class NotebookPage:
    """One notebook in JupyterLab or Notebook 7."""

    page: Page
    server: Jupyter
    face: Face
    path: Path

    def load(self, *, idle: bool = True) -> None:
        """Open (or reload) the page and wait for the kernel (``idle``: until it does nothing)."""
        place = "lab/tree" if self.face == "lab" else "notebooks"
        self.page.goto(
            f"{self.server.url}/{place}/{self.path.name}?token={self.server.token}&reset"
        )
        self.page.wait_for_function("window.jupyterapp?.started && true", timeout=60_000)
        self.page.evaluate("async () => { await window.jupyterapp.restored; }")
        self.page.wait_for_function(_IDLE if idle else _READY, timeout=60_000)

    def run(self, index: int) -> Locator:
        """Start the cell and return its output, without waiting for its end."""
        self.page.evaluate(f"(index) => {{ void ({_RUN})(index); }}", index)
        return self.output(index)

    def output(self, index: int) -> Locator:
        return self.page.locator(".jp-Cell").nth(index).locator(".jp-Cell-outputArea")

    def wait_idle(self, timeout: float = 30_000) -> None:
        self.page.wait_for_function(_IDLE, timeout=timeout)

    def save(self) -> dict[str, Any]:
        """Save the notebook and return it as stored."""
        self.page.evaluate("() => window.jupyterapp.shell.currentWidget.context.save()")
        stored: dict[str, Any] = json.loads(self.path.read_text(encoding="utf-8"))
        return stored

    def picture(self, name: str, of: Locator | None = None) -> None:
        """Keep a screenshot for people to look at."""
        ARTIFACTS.mkdir(exist_ok=True)
        target = ARTIFACTS / f"{self.face}-{name}.png"
        (of or self.page).screenshot(path=target, animations="disabled")


Open = Callable[..., NotebookPage]


def write_notebook(path: Path, cells: Sequence[str], kernel: str) -> None:
    """A new notebook with these code cells."""
    code: list[dict[str, Any]] = [
        {
            "cell_type": "code",
            "id": f"cell-{number}",
            "metadata": {},
            "execution_count": None,
            "outputs": [],
            "source": source,
        }
        for number, source in enumerate(cells)
    ]
    spec = {"name": kernel, "display_name": kernel, "language": "python"}
    notebook = {
        "nbformat": 4,
        "nbformat_minor": 5,
        "metadata": {"kernelspec": spec},
        "cells": code,
    }
    path.write_text(json.dumps(notebook), encoding="utf-8")
