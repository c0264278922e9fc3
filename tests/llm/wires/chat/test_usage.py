from __future__ import annotations

import json
from typing import Any

import pytest

from octo_lab.core.messages import Usage
from octo_lab.core.stream import Done, UsageReported
from octo_lab.llm.wires.chat.reader import ChatReader


@pytest.mark.parametrize(
    ("chunk", "usage"),
    [
        (
            {"usage": {"prompt_tokens": 9, "completion_tokens": 2, "prompt_cache_hit_tokens": 8}},
            Usage(input_tokens=9, output_tokens=2, cached_tokens=8, requests=1),
        ),
        (
            {"choices": [{"delta": {}, "usage": {"prompt_tokens": 9, "cached_tokens": 4}}]},
            Usage(input_tokens=9, cached_tokens=4, requests=1),
        ),
        (
            {"x_groq": {"usage": {"prompt_tokens": 3, "completion_tokens": 1}}},
            Usage(input_tokens=3, output_tokens=1, requests=1),
        ),
        (
            {
                "usage": {
                    "prompt_tokens": 9,
                    "completion_tokens": 7,
                    "completion_tokens_details": {"reasoning_tokens": 5},
                    "prompt_tokens_details": {"cached_tokens": 2, "cache_write_tokens": 3},
                    "cost": 0.25,
                }
            },
            Usage(
                input_tokens=9,
                output_tokens=7,
                cached_tokens=2,
                written_tokens=3,
                reasoning_tokens=5,
                requests=1,
                cost=0.25,
                priced=1,
            ),
        ),
        ({"usage": {"prompt_tokens": "9", "cost": {"total": 1}}}, Usage(requests=1)),
        ({"usage": {"prompt_tokens_details": 3, "cost": -1}}, Usage(requests=1)),
        ({"usage": [1]}, Usage(requests=1)),
        (
            {
                "usage": {
                    "prompt_tokens": 9,
                    "completion_tokens": 4,
                    "prompt_tokens_details": {"cached_tokens": 99, "cache_write_tokens": 7},
                    "completion_tokens_details": {"reasoning_tokens": 50},
                }
            },
            Usage(input_tokens=9, output_tokens=4, cached_tokens=9, reasoning_tokens=4, requests=1),
        ),
    ],
)
def test_usage_is_read_wherever_and_however_it_comes(chunk: dict[str, Any], usage: Usage) -> None:
    reader = ChatReader("lab")
    line = json.dumps({"choices": [], **chunk})
    assert reader.feed(f"data: {line}\n\ndata: [DONE]\n\n".encode()) == []
    assert reader.close() == [UsageReported(usage), Done("end_turn")]
