from __future__ import annotations

from typing import Any

import pytest

from octo_lab.testing.llm_script import call, calls, says
from octo_lab.testing.llm_server import LlmServer
from tests.notebook.kernels import Kernel, Ran

pytestmark = pytest.mark.kernel

PLOT = "import matplotlib.pyplot as plt\nfor n in (1, 2):\n    plt.plot([1, n]); plt.show()"


def final(ran: Ran) -> list[dict[str, Any]]:
    """What each output of the cell holds at its end."""
    outputs: dict[str, dict[str, Any]] = {}
    for number, output in enumerate(ran.outputs):
        content = output["content"]
        if "data" in content:
            ident = content.get("transient", {}).get("display_id", str(number))
            outputs[ident] = content["data"]
    return list(outputs.values())


@pytest.mark.parametrize(
    ("form", "mimes"),
    [
        ("text", ["text/plain"]),
        ("markdown", ["text/markdown", "text/plain"]),
        ("html", ["text/html", "text/plain"]),
    ],
)
@pytest.mark.parametrize("stdin", [True, False], ids=["front end", "headless"])
def test_a_format_is_the_only_output(
    octo: Kernel, model: LlmServer, form: str, mimes: list[str], stdin: bool
) -> None:
    model.script(says("```html\n<b>bold</b>", "<script>no()</script>\n```"))
    shown = final(octo.run(f"%octo -f {form} write", stdin=stdin))
    assert [sorted(data) for data in shown] == [mimes]
    if form == "html":
        assert shown[0]["text/html"].strip() == "<b>bold</b>"


def test_only_the_pictures_of_a_turn_are_shown(octo: Kernel, model: LlmServer) -> None:
    model.script(calls(call("python", code=PLOT)), says("There you are."))
    shown = final(octo.run("%octo -t python -f image plot", stdin=False))
    assert [sorted(data) for data in shown] == [["image/png", "text/plain"]] * 2
    assert "There you are" not in str(shown)


def test_no_picture_is_one_line_and_the_answer(octo: Kernel, model: LlmServer) -> None:
    model.script(says("I cannot draw."))
    ran = octo.run("%octo -f image plot")
    assert ran.printed == (
        "UsageError: The answer holds no picture (ask for a plot, or leave out -f)\n"
    )
    assert "I cannot draw." in str(final(ran))
