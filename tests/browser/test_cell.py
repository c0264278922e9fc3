"""A cell asks, in JupyterLab and in Notebook 7, with a real kernel and a scripted model."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect

from octo_lab.testing.llm_script import call, calls, says
from octo_lab.testing.llm_server import LlmServer
from tests.browser.notebook_page import Face, Open

pytestmark = [pytest.mark.browser, pytest.mark.timeout(240), pytest.mark.xdist_group("browser")]

WORDS = [f"word{number} " for number in range(400)]
VIEW = "application/vnd.jupyter.widget-view+json"


@pytest.fixture(params=["lab", "notebook"])
def face(request: pytest.FixtureRequest) -> Face:
    chosen: Face = request.param
    return chosen


def test_an_answer_streams_and_is_kept_as_a_static_output(
    face: Face, open_notebook: Open, model: LlmServer
) -> None:
    model.script(says("## Totals\n\n", "The sum is ", "**42**", ".\n\n- a\n- b\n", delay=0.3))
    notebook = open_notebook(face, ["%%octo\nWhat is the sum?"])
    output = notebook.run(0)
    expect(output.get_by_role("button", name="Stop")).to_be_visible()
    expect(output.locator("h2")).to_have_text("Totals")
    notebook.picture("cell-streaming")
    expect(output.get_by_role("button", name="Stop")).to_have_count(0)
    expect(output.locator(".octo-md strong")).to_have_text("42")
    notebook.picture("cell-done")
    [kept] = notebook.save()["cells"][0]["outputs"]
    assert kept["output_type"] == "display_data"
    assert set(kept["data"]) == {"text/plain", "text/markdown", "text/html"}
    assert "The sum is **42**." in "".join(kept["data"]["text/markdown"])


def test_stop_closes_the_model_s_stream_and_keeps_what_came(
    face: Face, open_notebook: Open, model: LlmServer
) -> None:
    before = len(model.disconnects)
    model.script(says(*WORDS, delay=0.05))
    notebook = open_notebook(face, ["%%octo\nTell me everything.", "print(6 * 7)"])
    output = notebook.run(0)
    expect(output.locator(".octo-md")).to_contain_text("word5")
    output.get_by_role("button", name="Stop").click()
    assert model.wait_until(lambda: len(model.disconnects) > before, timeout=5)
    expect(output).to_contain_text("Stopped")
    expect(output.locator(".octo-md")).to_contain_text("word5")
    notebook.picture("cell-stopped")
    expect(notebook.run(1)).to_contain_text("42")


def test_a_tool_runs_once_it_is_allowed(face: Face, open_notebook: Open, model: LlmServer) -> None:
    model.script(calls(call("python", code="total = sum(range(10))\ntotal")), says("It is **45**."))
    notebook = open_notebook(face, ["%%octo\nAdd them up.", "total"])
    output = notebook.run(0)
    allow = output.get_by_role("button", name="Allow once")
    expect(allow).to_be_visible()
    expect(output.locator(".octo-code")).to_contain_text("sum(range(10))")
    notebook.picture("cell-approval")
    allow.click()
    expect(output.locator(".octo-md strong")).to_have_text("45")
    expect(output.locator(".octo-tool.octo-ok")).to_have_count(1)
    expect(notebook.run(1)).to_contain_text("45")


def test_a_tool_that_is_denied_never_runs(
    face: Face, open_notebook: Open, model: LlmServer
) -> None:
    asked = len(model.requests)
    model.script(calls(call("python", code="harm = 'done'")), says("Then not."))
    notebook = open_notebook(face, ["%%octo\nDo harm.", "'harm' in globals()"])
    output = notebook.run(0)
    output.get_by_role("button", name="Deny").click()
    expect(output.locator(".octo-md")).to_have_text("Then not.")
    expect(output.locator(".octo-tool.octo-denied")).to_have_count(1)
    expect(notebook.run(1)).to_contain_text("False")
    result = model.requests[asked + 1].body["messages"][-1]
    assert result["role"] == "tool"
    assert "denied" in result["content"].lower() or "refused" in result["content"].lower()


def test_a_page_reloaded_during_a_turn_goes_on_showing_it(
    face: Face, open_notebook: Open, model: LlmServer
) -> None:
    model.script(says(*WORDS[:200], delay=0.06))
    notebook = open_notebook(face, ["%%octo\nCount."])
    output = notebook.run(0)
    expect(output.locator(".octo-md")).to_contain_text("word3")
    notebook.save()
    notebook.load(idle=False)
    output = notebook.output(0)
    expect(output.get_by_role("button", name="Stop")).to_be_visible()
    expect(output.locator(".octo-md")).to_contain_text("word199", timeout=40_000)
    expect(output.get_by_role("button", name="Stop")).to_have_count(0)


def test_code_in_an_answer_is_shown_and_never_runs(
    face: Face, open_notebook: Open, model: LlmServer
) -> None:
    attack = "<img src=x onerror='window.harmed=1'><script>window.harmed=1</script>"
    model.script(says(attack, "\n\n![p](http://127.0.0.1:9/x.png)\n\nend", delay=0.1))
    notebook = open_notebook(face, ["%%octo\nhi"])
    output = notebook.run(0)
    expect(output.get_by_role("button", name="Stop")).to_have_count(0)
    expect(output).to_contain_text("onerror=")
    assert output.locator("script, .octo img").count() == 0
    assert notebook.page.evaluate("window.harmed") is None


def test_the_stop_button_works_while_a_call_blocks_the_kernel(
    face: Face, open_notebook: Open, model: LlmServer
) -> None:
    before = len(model.disconnects)
    model.script(says(*WORDS, delay=0.05))
    blocking = "import octo_lab as ol\ndef f():\n    return ol.ask('go on').state\nprint(f())"
    output = open_notebook(face, [blocking]).run(0)
    expect(output.locator(".octo-md")).to_contain_text("word5")
    output.get_by_role("button", name="Stop").click()
    assert model.wait_until(lambda: len(model.disconnects) > before, timeout=5)
    expect(output).to_contain_text("cancelled")


def test_the_code_of_the_view_is_sent_once_and_later_turns_show_live_too(
    face: Face, open_notebook: Open, model: LlmServer
) -> None:
    """Also after the person closed all widgets, and in a page that was loaded anew."""
    closes = "import ipywidgets\nipywidgets.Widget.close_all()"
    notebook = open_notebook(face, ["%octo one", "%octo two", closes, "%octo three", "%octo four"])
    for cell in (0, 1, 2, 3):
        if cell == 2:
            notebook.run(cell)
            notebook.wait_idle()
            continue
        model.script(says(*WORDS[:20], delay=0.1))
        output = notebook.run(cell)
        expect(output.get_by_role("button", name="Stop")).to_be_visible()
        expect(output.get_by_role("button", name="Stop")).to_have_count(0)
    notebook.save()
    notebook.load()
    model.script(says(*WORDS[:20], delay=0.1))
    output = notebook.run(4)
    expect(output.get_by_role("button", name="Stop")).to_be_visible()
    expect(output.locator(".octo-md")).to_contain_text("word19")


_RESTART = """async () => {
  await window.jupyterapp.shell.currentWidget.sessionContext.session.kernel.restart();
}"""


def test_a_restart_during_a_turn_leaves_no_button_that_cannot_work(
    face: Face, open_notebook: Open, model: LlmServer
) -> None:
    model.script(says(*WORDS, delay=0.05))
    notebook = open_notebook(face, ["%octo tell"])
    output = notebook.run(0)
    expect(output.locator(".octo-md")).to_contain_text("word3")
    notebook.page.evaluate(_RESTART)
    expect(output.get_by_role("button", name="Stop")).to_have_count(0, timeout=3_000)
    notebook.picture("cell-restarted")


@pytest.mark.parametrize("answer", ["Allow once", "Allow for this session", "Deny", "Stop"])
def test_the_notebook_has_the_keyboard_again_after_a_button_of_the_answer(
    face: Face, answer: str, open_notebook: Open, model: LlmServer
) -> None:
    model.script(calls(call("python", code="1 + 1")), says("Two."))
    notebook = open_notebook(face, ["%%octo\nAdd.", "print(6 * 7)"])
    output = notebook.run(0)
    output.get_by_role("button", name=answer).click()
    expect(output.get_by_role("button", name="Stop")).to_have_count(0)
    notebook.wait_idle()
    keyboard = "() => document.activeElement.closest('.jp-Cell, .jp-Notebook') !== null"
    assert notebook.page.evaluate(keyboard)
    notebook.page.keyboard.press("Shift+Enter")
    notebook.page.keyboard.press("Shift+Enter")
    expect(notebook.output(1)).to_contain_text("42")
