"""The chat panel in real front ends: ask, stop, approve, switch dialogs, reload the page."""

from __future__ import annotations

import pytest
from playwright.sync_api import Locator, expect

from octo_lab.testing.llm_script import call, calls, says
from octo_lab.testing.llm_server import LlmServer
from tests.browser.notebook_page import Face, NotebookPage, Open

pytestmark = [pytest.mark.browser, pytest.mark.timeout(240), pytest.mark.xdist_group("browser")]

OPEN = "import octo_lab as ol\nol.chat()"
WORDS = [f"word{number} " for number in range(400)]


@pytest.fixture(params=["lab", "notebook"])
def face(request: pytest.FixtureRequest) -> Face:
    chosen: Face = request.param
    return chosen


def opened(notebook: NotebookPage, cell: int = 0) -> Locator:
    panel = notebook.run(cell).locator(".octo-chat")
    expect(panel).to_be_visible()
    return panel


def say(panel: Locator, text: str) -> None:
    field = panel.get_by_label("Message to Octo")
    field.fill(text)
    field.press("Enter")


def test_the_panel_asks_streams_and_shows_the_cells_turns_too(
    face: Face, open_notebook: Open, model: LlmServer
) -> None:
    notebook = open_notebook(face, [OPEN, "%%octo\nfrom a cell"])
    panel = opened(notebook)
    model.script(says("Hello ", "from **the model**.", delay=0.3))
    say(panel, "hi there")
    expect(panel.locator(".octo-ask")).to_have_text("hi there")
    expect(panel.locator(".octo-md strong")).to_have_text("the model")
    expect(panel.locator(".octo-dots")).to_have_count(0)
    model.script(says("Answer to the cell."))
    notebook.run(1)
    expect(panel.locator(".chat-exchange")).to_have_count(2)
    expect(panel.locator(".chat-exchange").last).to_contain_text("Answer to the cell.")
    notebook.picture("panel", panel)


def test_escape_stops_the_turn_and_the_model_sees_it(
    face: Face, open_notebook: Open, model: LlmServer
) -> None:
    panel = opened(open_notebook(face, [OPEN]))
    before = len(model.disconnects)
    model.script(says(*WORDS, delay=0.05))
    say(panel, "everything")
    expect(panel.locator(".octo-md")).to_contain_text("word5")
    panel.get_by_label("Message to Octo").press("Escape")
    assert model.wait_until(lambda: len(model.disconnects) > before, timeout=5)
    expect(panel).to_contain_text("Stopped")


def test_a_tool_waits_for_a_yes_and_a_no_keeps_it_from_running(
    face: Face, open_notebook: Open, model: LlmServer
) -> None:
    notebook = open_notebook(face, [OPEN, "seen"])
    panel = opened(notebook)
    model.script(calls(call("python", code="seen = 'no'")), says("Denied, then."))
    say(panel, "first")
    panel.get_by_role("button", name="Deny").click()
    expect(panel.locator(".chat-exchange").last).to_contain_text("Denied, then.")
    model.script(calls(call("python", code="seen = 'yes'")), says("Done."))
    say(panel, "second")
    notebook.picture("panel-approval", panel)
    panel.get_by_role("button", name="Allow once").click()
    expect(panel.locator(".chat-exchange").last).to_contain_text("Done.")
    expect(panel.locator(".octo-tool.octo-denied")).to_have_count(1)
    expect(panel.locator(".octo-tool.octo-ok")).to_have_count(1)
    expect(notebook.run(1)).to_contain_text("yes")


def test_a_reloaded_page_shows_the_dialog_again_and_goes_on(
    face: Face, open_notebook: Open, model: LlmServer
) -> None:
    notebook = open_notebook(face, [OPEN])
    panel = opened(notebook)
    model.script(says("First answer."))
    say(panel, "first question")
    expect(panel.locator(".octo-md")).to_contain_text("First answer.")
    model.script(says(*WORDS[:150], delay=0.08))
    say(panel, "second question")
    expect(panel.locator(".octo-md").last).to_contain_text("word3")
    notebook.save()
    notebook.load(idle=False)
    panel = notebook.output(0).locator(".octo-chat")
    expect(panel.locator(".octo-ask")).to_have_text(["first question", "second question"])
    expect(panel.locator(".chat-exchange").first).to_contain_text("First answer.")
    expect(panel.locator(".octo-md").last).to_contain_text("word149", timeout=40_000)
    model.script(says("Third answer."))
    say(panel, "third question")
    expect(panel.locator(".chat-exchange").last).to_contain_text("Third answer.")


LONG = "\n\n".join(f"Paragraph {number}." for number in range(30))
_BELOW = "(log) => Math.round(log.scrollHeight - log.scrollTop - log.clientHeight)"


def at_its_end(panel: Locator) -> None:
    """The log shows its end, now and when everything in it was drawn."""
    log = panel.get_by_role("log")
    expect(log.locator(".chat-foot").last).to_be_in_viewport()
    panel.page.wait_for_timeout(500)
    assert log.evaluate(_BELOW) <= 1


def test_the_panel_opens_at_the_last_turn_and_follows_it_until_the_person_scrolls_up(
    face: Face, open_notebook: Open, model: LlmServer
) -> None:
    cells = [f"%%octo\nquestion {number}" for number in range(6)]
    notebook = open_notebook(face, [OPEN, *cells])
    for number in range(6):
        model.script(says(LONG))
        notebook.run(number + 1)
        notebook.wait_idle()
    panel = opened(notebook)
    panel.scroll_into_view_if_needed()
    at_its_end(panel)
    notebook.save()
    notebook.load()
    panel = notebook.output(0).locator(".octo-chat")
    panel.scroll_into_view_if_needed()
    at_its_end(panel)
    panel = opened(notebook)
    at_its_end(panel)
    model.script(says(*LONG.splitlines(keepends=True), delay=0.05))
    say(panel, "more")
    expect(panel.locator(".octo-md").last).to_contain_text("Paragraph 9.")
    panel.get_by_role("log").hover()
    notebook.page.mouse.wheel(0, -900)
    expect(panel.get_by_role("button", name="Latest")).to_be_visible()
    expect(panel.locator(".octo-dots")).to_have_count(0)
    assert panel.get_by_role("log").evaluate(_BELOW) > 300
    panel.get_by_role("button", name="Latest").click()
    at_its_end(panel)


def test_dialogs_are_made_named_found_switched_and_deleted(
    face: Face, open_notebook: Open, model: LlmServer
) -> None:
    notebook = open_notebook(face, [OPEN])
    panel = opened(notebook)
    model.script(says("About whales."))
    say(panel, "whales?")
    expect(panel.locator(".octo-md")).to_contain_text("About whales.")
    panel.get_by_role("button", name="New session").click()
    expect(panel.locator(".chat-exchange")).to_have_count(0)
    model.script(says("About ships."))
    say(panel, "ships?")
    expect(panel.locator(".octo-md")).to_contain_text("About ships.")
    expect(panel.locator(".chat-item")).to_have_count(2)
    current = panel.locator(".chat-current")
    current.hover()
    current.get_by_role("button", name="Rename").click()
    panel.get_by_label("New title").fill("Harbour")
    panel.get_by_label("New title").press("Enter")
    expect(panel.locator(".chat-name")).to_have_text("Harbour")
    notebook.picture("panel-dialogs", panel)
    panel.locator(".chat-item:not(.chat-current) .chat-open").click()
    expect(panel.locator(".octo-md")).to_contain_text("About whales.")
    panel.get_by_label("Search sessions").fill("Harb")
    expect(panel.locator(".chat-item")).to_have_count(1)
    found = panel.locator(".chat-item")
    found.hover()
    found.get_by_role("button", name="Delete").click()
    found.get_by_role("button", name="Really delete?").click()
    expect(found).to_have_count(0)
    panel.get_by_label("Search sessions").fill("")
    expect(panel.locator(".chat-item")).to_have_count(1)


def test_the_keyboard_completes_commands_breaks_lines_and_recalls_prompts(
    face: Face, open_notebook: Open, model: LlmServer
) -> None:
    notebook = open_notebook(face, [OPEN])
    panel = opened(notebook)
    field = panel.get_by_label("Message to Octo")
    field.press_sequentially("/he")
    expect(panel.get_by_label("Commands").get_by_role("option")).to_have_count(1)
    notebook.picture("panel-commands", panel)
    field.press("Enter")
    expect(field).to_have_value("/help ")
    field.press("Enter")
    expect(panel.locator(".chat-note")).to_contain_text("/new")
    field.press_sequentially("one")
    field.press("Shift+Enter")
    field.press_sequentially("two")
    expect(field).to_have_value("one\ntwo")
    model.script(says("Both lines."))
    field.press("Enter")
    expect(panel.locator(".octo-md").last).to_contain_text("Both lines.")
    expect(field).to_have_value("")
    field.press("ArrowUp")
    expect(field).to_have_value("one\ntwo")
    assert model.requests[-1].body["messages"][-1]["content"] == "one\ntwo"


def test_the_saved_notebook_holds_a_readable_conversation(
    face: Face, open_notebook: Open, model: LlmServer
) -> None:
    notebook = open_notebook(face, ["%%octo\nWhat is octo?", OPEN])
    model.script(says("An **agent**."))
    expect(notebook.run(0).locator(".octo-md")).to_contain_text("An agent.")
    opened(notebook, 1)
    [kept] = notebook.save()["cells"][1]["outputs"]
    assert "What is octo?" in "".join(kept["data"]["text/plain"])
    assert "An <strong>agent</strong>." in "".join(kept["data"]["text/html"])


_RESTART = """async () => {
  await window.jupyterapp.shell.currentWidget.sessionContext.session.kernel.restart();
}"""


def test_a_restarted_kernel_is_said_at_once_and_the_cell_opens_the_panel_again(
    face: Face, open_notebook: Open, model: LlmServer
) -> None:
    notebook = open_notebook(face, [OPEN])
    panel = opened(notebook)
    model.script(says(*WORDS, delay=0.05))
    say(panel, "before")
    expect(panel.locator(".octo-md")).to_contain_text("word3")
    notebook.page.evaluate(_RESTART)
    expect(panel.get_by_role("alert")).to_contain_text("kernel was restarted", timeout=3_000)
    expect(panel.get_by_label("Message to Octo")).to_have_count(0)
    expect(panel.locator(".octo-dots")).to_have_count(0)
    notebook.picture("panel-restarted", panel)
    notebook.wait_idle()
    panel = opened(notebook)
    expect(panel.locator(".octo-ask")).to_have_text(["before"])
    model.forget()
    model.script(says("Alive."))
    say(panel, "after")
    expect(panel.locator(".chat-exchange").last).to_contain_text("Alive.")
