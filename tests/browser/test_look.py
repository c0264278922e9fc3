"""What people see, in both themes: enough contrast, formulas typeset, prices left alone."""

from __future__ import annotations

from typing import Literal

import pytest
from playwright.sync_api import Page, expect

from octo_lab.testing.llm_script import call, calls, says
from octo_lab.testing.llm_server import LlmServer
from tests.browser.notebook_page import Open
from tests.browser.server import Jupyter, set_theme

pytestmark = [pytest.mark.browser, pytest.mark.timeout(240), pytest.mark.xdist_group("browser")]

Theme = Literal["Light", "Dark"]
ANSWER = """The prices rise by **3 %** a year, see [the notes](https://example.org/notes).

| region | rows | mean price |
|:--|--:|--:|
| north | 412 | 40.1 |
| south | 388 | 43.9 |

```python
def yearly(df):
    # one value a year
    return df.groupby("year")["price"].mean()
```

It costs $5, not $10; the mean is $\\bar x$.
"""
# The contrast of every visible text below .octo or .octo-chat with what lies behind it (WCAG 2).
CONTRAST = """() => {
  const canvas = document.createElement("canvas").getContext("2d", {willReadFrequently: true});
  const rgba = (color) => {
    canvas.clearRect(0, 0, 1, 1);
    canvas.fillStyle = color;
    canvas.fillRect(0, 0, 1, 1);
    const [r, g, b, a] = canvas.getImageData(0, 0, 1, 1).data;
    return [r, g, b, a / 255];
  };
  const over = (top, below) => top.slice(0, 3).map((v, i) => v * top[3] + below[i] * (1 - top[3]));
  const behind = (node) => {
    const layers = [];
    for (let at = node; at; at = at.parentElement) {
      const color = rgba(getComputedStyle(at).backgroundColor);
      layers.push(color);
      if (color[3] === 1) break;
    }
    return layers.reverse().reduce((below, top) => over(top, below), [255, 255, 255]);
  };
  const light = (rgb) => {
    const [r, g, b] = rgb.map((v) => v / 255)
      .map((v) => (v <= 0.03928 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4));
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const poor = [];
  for (const root of document.querySelectorAll(".octo, .octo-chat")) {
    const walker = document.createTreeWalker(root, NodeFilter.SHOW_TEXT);
    while (walker.nextNode()) {
      const node = walker.currentNode.parentElement;
      if (!walker.currentNode.data.trim()) continue;
      if (!node.checkVisibility({opacityProperty: true})) continue;
      if (node.closest("style, .octo-unseen, mjx-container, :disabled")) continue;
      const back = behind(node);
      const text = over(rgba(getComputedStyle(node).color), back);
      const [high, low] = [light(text), light(back)].sort((a, b) => b - a);
      const ratio = (high + 0.05) / (low + 0.05);
      if (ratio < 4.5) poor.push(`${ratio.toFixed(2)} ${walker.currentNode.data.trim()}`);
    }
  }
  return poor;
}"""


def poor_contrast(page: Page) -> list[str]:
    found: list[str] = page.evaluate(CONTRAST)
    return found


@pytest.fixture(params=["Light", "Dark"])
def theme(request: pytest.FixtureRequest, jupyter: Jupyter) -> Theme:
    chosen: Theme = request.param
    set_theme(jupyter, f"JupyterLab {chosen}")
    return chosen


def test_a_cell_s_answer_is_readable(theme: Theme, open_notebook: Open, model: LlmServer) -> None:
    code = "df = {'north': 40.1, 'south': 43.9}\nsum(df.values()) / len(df)"
    model.script(
        calls(call("python", code=code), reasoning=["I look at the data first."]),
        says(*ANSWER.splitlines(keepends=True), delay=0.05),
    )
    notebook = open_notebook("lab", ["%%octo\nHow do the prices develop?"])
    output = notebook.run(0)
    allow = output.get_by_role("button", name="Allow once")
    expect(allow).to_be_visible()
    notebook.picture(f"look-approval-{theme}")
    assert poor_contrast(notebook.page) == []
    allow.click()
    expect(output.get_by_role("button", name="Stop")).to_have_count(0)
    expect(output.locator("mjx-container")).to_have_count(1)
    expect(output).to_contain_text("It costs $5, not $10; the mean is")
    output.locator(".octo-tool summary").click()
    output.locator(".octo-think summary").click()
    notebook.picture(f"look-answer-{theme}")
    assert poor_contrast(notebook.page) == []


def test_the_panel_is_readable(theme: Theme, open_notebook: Open, model: LlmServer) -> None:
    notebook = open_notebook("lab", ["import octo_lab as ol\nol.chat()"])
    panel = notebook.run(0).locator(".octo-chat")
    expect(panel.locator(".chat-welcome")).to_be_visible()
    notebook.picture(f"look-welcome-{theme}", panel)
    field = panel.get_by_label("Message to Octo")
    model.script(says(ANSWER, delay=0.05))
    field.fill("How do the prices develop?")
    field.press("Enter")
    expect(panel.locator("table")).to_be_visible()
    expect(panel.locator("math")).to_have_count(1)
    field.fill("/nonsense")
    field.press("Enter")
    expect(panel.locator(".chat-note .octo-error")).to_be_visible()
    model.script(calls(call("python", code="1 + 1")), says("ok"))
    field.fill("Compute it.")
    field.press("Enter")
    expect(panel.get_by_role("button", name="Deny")).to_be_visible()
    field.fill("/")
    expect(panel.get_by_label("Commands").get_by_role("option").first).to_be_visible()
    notebook.picture(f"look-panel-{theme}", panel)
    assert poor_contrast(notebook.page) == []
    field.fill("")
    panel.get_by_role("button", name="Deny").click()
    expect(panel.locator(".octo-md").last).to_have_text("ok")
