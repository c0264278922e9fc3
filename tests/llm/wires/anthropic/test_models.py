from __future__ import annotations

import pytest

from octo_lab.llm.wires.anthropic.models import Facts, facts_of


@pytest.mark.parametrize(
    ("model", "facts"),
    [
        ("glm-5", Facts()),
        ("deepseek-v4", Facts()),
        (
            "claude-3-haiku-20240307",
            Facts(thinking="none", max_output=4_096, usual_output=4_096, prefill=True, signed=True),
        ),
        (
            "us.anthropic.claude-3-7-sonnet-20250219-v1:0",
            Facts(max_output=64_000, usual_output=16_384, prefill=True, signed=True),
        ),
        (
            "claude-opus-4-20250514",
            Facts(max_output=32_000, usual_output=16_384, prefill=True, signed=True),
        ),
        (
            "anthropic/claude-sonnet-4.5",
            Facts(max_output=64_000, usual_output=16_384, prefill=True, signed=True, formats=True),
        ),
        (
            "claude-opus-4-6",
            Facts(
                thinking="adaptive",
                max_output=128_000,
                usual_output=16_384,
                signed=True,
                formats=True,
            ),
        ),
        (
            "claude-opus-4-8",
            Facts(
                thinking="adaptive",
                max_output=128_000,
                usual_output=16_384,
                signed=True,
                formats=True,
                sampling=False,
                display=True,
            ),
        ),
        *(
            (
                name,
                Facts(
                    thinking="default",
                    max_output=128_000,
                    usual_output=16_384,
                    signed=True,
                    formats=True,
                    sampling=False,
                    display=True,
                    bound=name.endswith("5-5"),
                ),
            )
            for name in ("claude-opus-5", "claude-sonnet-latest", "claude-haiku-5-5")
        ),
        *(
            (
                name,
                Facts(
                    thinking="always",
                    max_output=128_000,
                    usual_output=16_384,
                    signed=True,
                    formats=True,
                    sampling=False,
                    display=True,
                    bound=not name.endswith(("preview", "fable-5")),
                ),
            )
            for name in (
                "claude-opus-5-5",
                "claude-fable-5",
                "claude-fable-5-2",
                "claude-mythos-preview",
                "claude-opus-7",
            )
        ),
    ],
)
def test_a_model_s_name_tells_what_it_takes(model: str, facts: Facts) -> None:
    assert facts_of(model) == facts
