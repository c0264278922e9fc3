from __future__ import annotations

from dataclasses import replace
from xml.etree import ElementTree

from octo_lab.core.replies import Routing, SlotInfo
from octo_lab.core.words import ROUTER_ALONE
from octo_lab.notebook.router_card import router_chart, router_markdown

SLOW = SlotInfo(
    name="a/<b>gpt|4o",
    state="half-open",
    calls=10,
    errors=3,
    error_rate=0.3,
    latency=1.4,
    p50=1.0,
    p95=4.0,
    throughput=55.2,
    cost=0.0123,
    score=0.41234,
)
UNUSED = SlotInfo(
    name="groq/llama",
    state="closed",
    calls=0,
    errors=0,
    error_rate=0.0,
    latency=None,
    p50=None,
    p95=None,
    throughput=None,
    cost=None,
    score=None,
)


def test_every_model_is_a_row_and_what_is_unknown_a_dash() -> None:
    lines = router_markdown(Routing(mode="lane", slots=(SLOW, UNUSED))).splitlines()
    assert lines[0] == "Mode: **lane**"
    assert lines[-2:] == [
        "| a/<b>gpt\\|4o | half-open | 10 | 3 (30%) | 1.00 s | 4.00 s | 55 | \\$0.0123 | 0.412 |",
        "| groq/llama | closed | 0 | 0 (0%) | - | - | - | - | - |",
    ]


def test_one_model_alone_says_how_to_add_others() -> None:
    assert router_markdown(Routing(mode="off", slots=())) == ROUTER_ALONE


def test_the_chart_is_well_formed_and_has_a_bar_for_each_measured_model() -> None:
    chart = ElementTree.fromstring(router_chart(Routing(mode="lane", slots=(SLOW, UNUSED))))
    groups = chart.findall("g")
    assert [group.findtext("title") for group in groups] == [
        "a/<b>gpt|4o: 1.00 / 4.00 s, 30% errors, $0.0123, half-open"
    ]
    assert [text.text for text in groups[0].findall("text")] == [
        "a/<b>gpt|4o",
        "1.00 / 4.00 s, 30% errors, $0.0123",
    ]
    late, median = (float(bar.attrib["width"]) for bar in groups[0].findall("rect"))
    assert late == 4 * median


def test_a_cost_that_nobody_knows_is_not_charted() -> None:
    chart = router_chart(Routing(mode="lane", slots=(replace(SLOW, cost=None),)))
    assert "$" not in chart


def test_nothing_measured_is_no_chart() -> None:
    assert router_chart(Routing(mode="lane", slots=(UNUSED,))) == ""
