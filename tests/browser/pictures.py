"""Takes the README's pictures from the running product: ``python -m tests.browser.pictures DIR``.

No model is needed: the offline provider answers, with real tool calls in a real kernel.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

from playwright.sync_api import Locator, expect, sync_playwright

from tests.browser.conftest import ARGUMENTS, browser_executable
from tests.browser.notebook_page import NotebookPage, write_notebook
from tests.browser.server import jupyter_server, set_theme

TABLE = """import pandas as pd

prices = pd.DataFrame({
    "region": ["north", "south", "east", "north", "south", "east"],
    "year": [2024, 2024, 2024, 2025, 2025, 2025],
    "price": [38.5, 41.0, 40.2, 41.7, 46.8, 48.2],
})"""
CELLS = [
    TABLE,
    "%%octo\nWhat is the mean of price in prices?",
    "import octo_lab as ol\nol.chat()",
]
WAIT = 60_000


def main(target: Path) -> None:
    target.mkdir(parents=True, exist_ok=True)
    expect.set_options(timeout=WAIT)
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        no_model = {"OPENAI_API_KEY": "", "OPENAI_BASE_URL": ""}
        with jupyter_server(Path(folder) / "jupyter", **no_model) as server:
            set_theme(server, "JupyterLab Light")
            browser = playwright.chromium.launch(
                executable_path=browser_executable(), args=ARGUMENTS
            )
            path = server.notebooks / "prices.ipynb"
            write_notebook(path, CELLS, "octo")
            page = browser.new_context(
                viewport={"width": 1180, "height": 860}, device_scale_factor=1.5
            ).new_page()
            take(NotebookPage(page, server, "lab", path), target)
            browser.close()


def take(notebook: NotebookPage, target: Path) -> None:
    notebook.load()
    notebook.page.evaluate("window.jupyterapp.shell.collapseLeft()")
    notebook.run(0)
    turn = notebook.run(1)
    answer(turn)
    expect(turn.get_by_role("button", name="Stop")).to_have_count(0)
    notebook.wait_idle()
    cell = notebook.page.locator(".jp-Cell").nth(1)
    expect(cell.locator(".jp-InputPrompt")).to_have_text("[2]:")
    open_card(turn)
    expect(turn.locator(".octo-tool[open]")).to_have_count(1)
    cell.screenshot(path=target / "turn.png", animations="disabled")
    panel = notebook.run(2).locator(".octo-chat")
    expect(panel.locator(".chat-exchange")).to_have_count(1)
    field = panel.get_by_label("Message to Octo")
    for text in ("What variables do I have?", "What time is it in Tokyo?"):
        field.fill(text)
        field.press("Enter")
        expect(panel.locator(".octo-ask").last).to_have_text(text)
        answer(panel)
        expect(panel.locator(".octo-running-line")).to_have_count(0)
    panel.screenshot(path=target / "panel.png", animations="disabled")


def answer(place: Locator) -> None:
    """Allow what is asked for, if anything is, until there is an answer."""
    allow = place.get_by_role("button", name="Allow for this session")
    done = place.locator(".octo-md, .octo-foot").last
    expect(allow.or_(done).last).to_be_visible()
    if allow.count():
        allow.click()


def open_card(turn: Locator) -> None:
    card = turn.locator(".octo-tool summary").last
    if card.count():
        card.click()
    turn.page.mouse.move(0, 0)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
