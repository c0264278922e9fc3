from __future__ import annotations

import pytest

from octo_lab.core.messages import Usage
from octo_lab.core.replies import Status
from octo_lab.session.status import status_text

USAGE = Usage(input_tokens=1000, output_tokens=50, requests=2)


def status(usage: Usage) -> Status:
    return Status(
        session="s",
        title="trip",
        model="gpt-4o",
        provider="openai",
        provider_note="",
        context_tokens=10,
        context_window=128_000,
        usage=usage,
        tools=("read_file",),
        channels=("terminal",),
        workspace="/w",
        data_folder="/d",
        running=1,
        prices="2025-12-01",
    )


@pytest.mark.parametrize(
    ("usage", "line"),
    [
        (Usage(), ""),
        (USAGE, "- cost: unknown: no price is known of this model\n"),
        (
            Usage(input_tokens=1000, output_tokens=50, requests=2, cost=0.0042, priced=2),
            "- cost: $0.0042 (list prices of 2025-12-01)\n",
        ),
    ],
)
def test_a_status_is_a_list_that_holds_only_what_is_known(usage: Usage, line: str) -> None:
    assert status_text(status(usage)) == (
        "- model: openai/gpt-4o\n"
        "- session: trip\n"
        "- context: 10 of 128,000 tokens\n"
        f"- used: {usage.input_tokens:,} tokens in, {usage.output_tokens} out\n"
        f"{line}"
        "- tools: read_file\n"
        "- channels: terminal\n"
        "- workspace: /w\n"
        "- data: /d\n"
        "- running: 1 turns"
    )
