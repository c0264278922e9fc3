from __future__ import annotations

from octo_lab.core.messages import Usage
from octo_lab.gateway.report import Report, uptime

REPORT = Report(
    state="stopped",
    where="http://127.0.0.1:19876",
    workspace="/w",
    data_folder="/d",
    seconds=93784,
    messages=3,
    turns=2,
    errors=1,
    usage=Usage(input_tokens=10, output_tokens=5),
    log=("one ```", "two"),
)


def test_a_report_as_text() -> None:
    assert str(REPORT).splitlines() == [
        "octo_lab gateway, stopped",
        "address      http://127.0.0.1:19876",
        "workspace    /w",
        "data folder  /d",
        "uptime       1 d 02:03:04",
        "messages     3",
        "turns        2",
        "tokens       10 in, 5 out",
        "errors       1",
        "one ```",
        "two",
    ]


def test_a_report_as_markdown_keeps_the_log_inside_its_fence() -> None:
    lines = REPORT._repr_markdown_().splitlines()
    assert lines[0] == "**octo_lab gateway**, stopped"
    assert "| errors | 1 |" in lines
    assert lines[-4:] == ["```text", "one '''", "two", "```"]


def test_uptime_is_read_as_a_clock() -> None:
    assert [uptime(0.9), uptime(61), uptime(3600 * 30)] == ["00:00:00", "00:01:01", "1 d 06:00:00"]
