"""The agent proposes a cell, and the person decides with a button, in a real front end."""

from __future__ import annotations

from typing import Any

import pytest
from playwright.sync_api import Locator, expect

from octo_lab.testing.llm_script import call, calls, says
from octo_lab.testing.llm_server import LlmServer
from tests.browser.notebook_page import Face, NotebookPage, Open

pytestmark = [pytest.mark.browser, pytest.mark.timeout(240), pytest.mark.xdist_group("browser")]

CODE = "total = sum(prices)\nprint('the total is', total)"
CELLS = ["prices = [1, 2, 39]", "%%octo\nAdd them up", "'the last cell'"]


@pytest.fixture(params=["lab", "notebook"])
def face(request: pytest.FixtureRequest) -> Face:
    chosen: Face = request.param
    return chosen


def propose(
    notebook: NotebookPage, model: LlmServer, text: str = "Done.", **arguments: Any
) -> Locator:
    """Run the first cell, then ask; the output in which the proposal stands."""
    model.script(calls(call("propose_cell", **{"code": CODE, **arguments})), says(text))
    notebook.run(0)
    notebook.wait_idle()
    output = notebook.run(1)
    expect(output.get_by_role("group", name="Proposed cell")).to_be_visible()
    return output


def sources(notebook: NotebookPage) -> list[str]:
    stored = notebook.save()
    return ["".join(cell["source"]) for cell in stored["cells"]]


def ended(output: Locator) -> None:
    expect(output.get_by_role("paragraph").filter(has_text="Done.")).to_be_visible()


def told(model: LlmServer) -> str:
    messages = model.requests[-1].body["messages"]
    return str([m["content"] for m in messages if m["role"] == "tool"][-1])


def test_a_proposed_cell_is_put_below_by_a_button(
    face: Face, open_notebook: Open, model: LlmServer
) -> None:
    notebook = open_notebook(face, CELLS)
    output = propose(notebook, model)
    notebook.picture("propose-insert", output)
    before = sources(notebook)
    output.get_by_role("button", name="Insert", exact=True).click()
    ended(output)
    notebook.wait_idle()
    assert before == CELLS
    assert sources(notebook) == [*CELLS[:2], CODE, CELLS[2]]
    assert told(model) == "The person accepted it: it is in a new cell, and has not run."


def test_a_proposed_cell_is_put_below_and_run(
    face: Face, open_notebook: Open, model: LlmServer
) -> None:
    notebook = open_notebook(face, CELLS)
    output = propose(notebook, model, run=True)
    output.get_by_role("button", name="Insert and run").click()
    ended(output)
    expect(notebook.output(2)).to_contain_text("the total is 42")
    notebook.wait_idle()
    notebook.picture("propose-ran")
    assert sources(notebook) == [*CELLS[:2], CODE, CELLS[2]]
    assert told(model).endswith("it is in a new cell and runs as soon as the kernel is free.")


def test_a_named_cell_is_changed_after_the_person_changed_the_proposal(
    face: Face, open_notebook: Open, model: LlmServer
) -> None:
    notebook = open_notebook(face, CELLS)
    changed = "prices = [1, 2, 40]"
    output = propose(notebook, model, action="edit", cell="@cell1", code=changed)
    card = output.get_by_role("group", name="Proposed cell")
    expect(card).to_contain_text("-prices = [1, 2, 39]")
    notebook.picture("propose-edit", output)
    card.get_by_role("button", name="Edit").click()
    card.get_by_label("Code of the proposed cell").fill("prices = [7]")
    card.get_by_role("button", name="Replace", exact=True).click()
    ended(output)
    notebook.wait_idle()
    assert sources(notebook) == ["prices = [7]", *CELLS[1:]]
    assert told(model).endswith("They changed it first:\nprices = [7]")


def test_a_dismissed_proposal_leaves_the_notebook_alone(
    open_notebook: Open, model: LlmServer
) -> None:
    notebook = open_notebook("lab", CELLS)
    output = propose(notebook, model)
    output.get_by_role("button", name="Dismiss").click()
    ended(output)
    notebook.wait_idle()
    assert sources(notebook) == CELLS
    assert told(model).startswith("The person dismissed it.")


def test_a_cell_proposed_in_the_panel_is_put_below_it(
    face: Face, open_notebook: Open, model: LlmServer
) -> None:
    notebook = open_notebook(face, ["import octo_lab as ol\nol.chat()", *CELLS])
    panel = notebook.run(0).locator(".octo-chat")
    notebook.run(1)
    notebook.wait_idle()
    model.script(calls(call("propose_cell", code=CODE, cell="@cell2")), says("Done."))
    model.script(calls(call("propose_cell", code="'from the panel'")), says("Done."))
    ask(panel, "Add them up")
    panel.get_by_role("button", name="Insert and run").click()
    expect(notebook.output(2)).to_contain_text("the total is 42")
    ask(panel, "Once more")
    notebook.picture("propose-panel", panel)
    panel.get_by_role("button", name="Insert", exact=True).click()
    expect(panel.get_by_role("paragraph").filter(has_text="Done.")).to_have_count(2)
    notebook.wait_idle()
    assert sources(notebook)[1:4] == ["'from the panel'", CELLS[0], CODE]


def ask(panel: Locator, text: str) -> None:
    field = panel.get_by_label("Message to Octo")
    field.fill(text)
    field.press("Enter")
    expect(panel.get_by_role("group", name="Proposed cell")).to_be_visible()
