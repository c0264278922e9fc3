from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable
from dataclasses import replace
from typing import Any

import anyio
import pytest

from octo_lab.core.messages import Media, ToolCall
from octo_lab.testing.providers import ScriptedApprover
from octo_lab.tools.call import CallBounds, Outcome, run_call
from octo_lab.tools.tool import Tool, ToolContext, ToolResult

pytestmark = pytest.mark.anyio

Run = Callable[[ToolContext, Any], Awaitable[ToolResult | str]]


async def _fine(ctx: ToolContext, args: Any) -> str:
    return "fine"


TOOL = Tool(name="t", description="", schema={}, parse=dict, run=_fine, group="test", source="own")


async def outcome(
    ctx: ToolContext, tool: Tool, bounds: CallBounds = CallBounds(), arguments: str = "{}"
) -> Outcome:
    call = ToolCall(id="1", name="t", arguments=arguments)
    approver = ScriptedApprover("once")
    return await run_call(tool, call, ctx, approver=approver, bounds=bounds, started=lambda: None)


def does(run: Any) -> Tool:
    async def given(ctx: ToolContext, args: Any) -> Any:
        return run()

    return replace(TOOL, run=given)


def raises(error: BaseException) -> Tool:
    def run() -> None:
        raise error

    return does(run)


@pytest.mark.parametrize(
    ("error", "expected"),
    [
        (SystemExit(3), Outcome(state="error", text="Error: 't' raised SystemExit: 3")),
        (KeyboardInterrupt(), Outcome(state="cancelled", text="Error: 't' was interrupted.")),
        (
            asyncio.CancelledError(),
            Outcome(state="cancelled", text="Error: 't' cancelled itself."),
        ),
        (ValueError("a\nb"), Outcome(state="error", text="Error: 't' raised ValueError: a")),
        (ValueError("\ud800"), Outcome(state="error", text="Error: 't' raised ValueError: �")),
        (TimeoutError(), Outcome(state="error", text="Error: 't' raised TimeoutError")),
        (RecursionError(""), Outcome(state="error", text="Error: 't' raised RecursionError")),
        (
            BaseExceptionGroup("both", [SystemExit(1)]),
            Outcome(
                state="error", text="Error: 't' raised BaseExceptionGroup: both (1 sub-exception)"
            ),
        ),
    ],
)
async def test_no_error_of_a_tool_gets_out(
    ctx: ToolContext, error: BaseException, expected: Outcome, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.CRITICAL):
        assert await outcome(ctx, raises(error)) == expected


@pytest.mark.parametrize("value", [None, 5, ToolResult(text=5)])  # type: ignore[arg-type]
async def test_a_tool_that_returns_no_text_is_an_error_not_a_crash(
    ctx: ToolContext, value: object
) -> None:
    assert (await outcome(ctx, does(lambda: value))).state == "error"


async def test_the_callers_own_cancellation_gets_out(ctx: ToolContext) -> None:
    async def hang(ctx: ToolContext, args: Any) -> str:
        await anyio.sleep_forever()
        return ""

    with anyio.move_on_after(0.01) as scope:
        await outcome(ctx, replace(TOOL, run=hang))

    assert scope.cancelled_caught


async def test_a_description_that_fails_is_an_error_of_the_tool(ctx: ToolContext) -> None:
    def detail(args: Any) -> str:
        raise KeyError("x")

    assert await outcome(ctx, replace(TOOL, asks=True, detail=detail)) == Outcome(
        state="error", text="Error: 't' raised KeyError: 'x'"
    )


async def test_media_too_large_are_left_out_and_counted(ctx: ToolContext) -> None:
    small, large = (Media(mime="image/png", data=b"x" * n) for n in (10, 200))
    result = ToolResult(text="two", media=(small, large))

    assert await outcome(ctx, does(lambda: result), CallBounds(media=100)) == Outcome(
        state="ok", text="two\n[1 pictures or files left out: too large]", media=(small,)
    )


async def test_a_tool_may_bound_its_output_itself(ctx: ToolContext) -> None:
    tool = does(lambda: "x" * 500)

    assert len((await outcome(ctx, tool, CallBounds(output=100))).text) < 200
    assert len((await outcome(ctx, replace(tool, output=500), CallBounds(output=100))).text) == 500


async def test_an_error_message_is_bounded_too(ctx: ToolContext) -> None:
    found = await outcome(ctx, raises(ValueError("x" * 10_000)))

    assert len(found.text) < 600
