from __future__ import annotations

from collections.abc import Sequence

import pytest

from octo_lab.tools.policy import select_tools, unmatched
from octo_lab.tools.tool import Tool, ToolContext


async def _run(ctx: ToolContext, args: object) -> str:
    return ""


def tool(name: str, group: str = "fs", *channels: str) -> Tool:
    return Tool(
        name=name,
        description="",
        schema={},
        parse=dict,
        run=_run,
        group=group,
        source="own",
        channels=frozenset(channels) or None,
    )


TOOLS = (
    tool("read_file"),
    tool("read_url", "web"),
    tool("grep"),
    tool("python", "runtime", "notebook"),
)


@pytest.mark.parametrize(
    ("patterns", "allow", "deny", "names"),
    [
        (None, ("*",), (), "read_file read_url grep python"),
        (None, (), (), "read_file read_url grep python"),
        ((), ("*",), (), ""),
        (("read_*",), ("*",), (), "read_file read_url"),
        (("read_*",), ("read_file", "grep"), (), "read_file"),
        (None, ("*",), ("read_*",), "grep python"),
        (("grep",), ("grep",), ("grep",), ""),
        (None, ("group:fs",), (), "read_file grep"),
        (None, ("*",), ("group:web", "python"), "read_file grep"),
        (("GREP",), ("*",), (), ""),
    ],
)
def test_the_turns_wish_the_owners_leave_and_deny_decide(
    patterns: Sequence[str] | None, allow: Sequence[str], deny: Sequence[str], names: str
) -> None:
    chosen = select_tools(TOOLS, channel="notebook", patterns=patterns, allow=allow, deny=deny)

    assert " ".join(tool.name for tool in chosen) == names


def test_a_tool_of_the_notebook_is_offered_nowhere_else() -> None:
    chosen = select_tools(TOOLS, channel="web", patterns=("*",))

    assert [tool.name for tool in chosen] == ["read_file", "read_url", "grep"]


def test_a_wish_that_no_tool_fits_is_named_with_the_nearest() -> None:
    tools = [tool("grep"), tool("read_file")]

    assert unmatched(["grep", "read*"], tools) == ""
    assert unmatched(["gerp"], tools) == "No tool fits 'gerp' (did you mean 'grep'?)."
    assert unmatched(["x*", "grep"], tools) == "No tool fits 'x*'."
