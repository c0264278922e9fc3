"""A file that is sent to a person, in a real kernel."""

from __future__ import annotations

import base64

import pytest

from octo_lab.testing.llm_script import call, calls, says
from octo_lab.testing.llm_server import LlmServer
from tests.notebook.kernels import Kernel, Ran

pytestmark = pytest.mark.kernel

MAKE = """
import base64
open("ducks.csv", "w").write("<b>a</b>,b")
open("duck.png", "wb").write(base64.b64decode(
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJg"
    "gg=="))
"""


def pages(ran: Ran) -> list[str]:
    shown = [output["content"]["data"] for output in ran.of("display_data")]
    return [data["text/html"] for data in shown if "text/html" in data]


def told(model: LlmServer) -> str:
    messages = model.requests[-1].body["messages"]
    return str([m["content"] for m in messages if m["role"] == "tool"][-1])


def test_a_picture_is_shown_below_the_turn_and_another_file_can_be_saved(
    octo: Kernel, model: LlmServer
) -> None:
    octo.run(MAKE)
    model.script(
        calls(
            call("send_file", id="c1", path="duck.png", caption="<A duck>"),
            call("send_file", id="c2", path="ducks.csv"),
        ),
        says("ok"),
    )
    ran = octo.run("%%octo\nsend me the ducks")
    files = [page for page in pages(ran) if "data:" in page and "octo-" not in page]
    picture = next(page for page in files if "<img" in page)
    assert picture.startswith('<p>&lt;A duck&gt;: duck.png (70 bytes)</p><img src="data:image/png;')
    link = next(page for page in files if "download=" in page)
    data = base64.b64encode(b"<b>a</b>,b").decode()
    assert f'<a href="data:application/octet-stream;base64,{data}" download="ducks.csv">' in link
    assert told(model) == "Sent 'ducks.csv' (10 bytes, text/csv)."


def test_where_nobody_looks_nothing_is_sent(octo: Kernel, model: LlmServer) -> None:
    octo.run(MAKE)
    model.script(calls(call("send_file", id="c1", path="ducks.csv")), says("ok"))
    ran = octo.run("%octo --quiet send it")
    assert not [page for page in pages(ran) if "download=" in page]
    assert "'ducks.csv' was not sent" in told(model)
