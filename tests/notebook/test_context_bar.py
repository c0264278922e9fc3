from __future__ import annotations

from xml.etree import ElementTree

from octo_lab.core.messages import Usage
from octo_lab.core.replies import ContextLayer, Status
from octo_lab.notebook.context_bar import context_bar


def status(window: int, *layers: ContextLayer) -> Status:
    return Status(
        session="",
        title="",
        model="m",
        provider="p",
        provider_note="",
        context_tokens=sum(layer.tokens for layer in layers),
        context_window=window,
        usage=Usage(),
        tools=(),
        channels=(),
        workspace="",
        data_folder="",
        running=0,
        layers=layers,
    )


BASE, SAID = ContextLayer(name="base", tokens=250), ContextLayer(name="<said>", tokens=750)


def test_each_layer_has_its_share_of_the_window() -> None:
    page = ElementTree.fromstring(f"<p>{context_bar(status(4000, BASE, SAID))}</p>")
    parts = page.findall("svg/rect")
    assert [part.findtext("title") for part in parts] == [
        "base: 250 tokens",
        "<said>: 750 tokens",
    ]
    widths = [float(part.attrib["width"]) for part in parts]
    assert widths == [35.0, 105.0]
    assert "250 (6.2%)" in "".join(page.itertext())


def test_what_is_over_the_window_fills_the_bar_and_no_more() -> None:
    page = ElementTree.fromstring(f"<p>{context_bar(status(500, BASE, SAID))}</p>")
    assert sum(float(part.attrib["width"]) for part in page.findall("svg/rect")) == 560


def test_without_a_window_there_is_no_bar() -> None:
    assert context_bar(status(0, BASE)) == ""
