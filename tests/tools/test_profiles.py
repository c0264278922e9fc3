from __future__ import annotations

from octo_lab.tools.policy import ChannelTools, select_tools
from octo_lab.tools.profiles import USUAL, ToolProfile, profile_of, shaped
from octo_lab.tools.tool import Risk, Source, Tool, ToolContext


async def _run(ctx: ToolContext, args: object) -> str:
    return ""


def tool(
    name: str, group: str = "fs", risk: Risk = "read", source: Source = "workspace", *only: str
) -> Tool:
    return Tool(
        name=name,
        description="",
        schema={},
        parse=dict,
        run=_run,
        group=group,
        source=source,
        risk=risk,
        channels=frozenset(only) or None,
    )


TOOLS = [
    tool("read_file"),
    tool("write_file", "fs", "write"),
    tool("shell", "runtime", "execute", "workspace", "notebook", "terminal"),
    tool("web_fetch", "web", "network", "outside"),
    tool("recall", "memory", "read", "private"),
    tool("get_time", "info", "read", "own"),
]


def names(tools: list[Tool]) -> str:
    return " ".join(tool.name for tool in tools)


def test_a_model_gets_its_order_its_names_and_its_own_leave() -> None:
    profiles = {
        "openai": ToolProfile(prefer=("web_*", "shell"), demote=("group:fs",)),
        "openai/gpt-4*": ToolProfile(aliases={"shell": "bash", "read_file": "get_time"}),
        "other": ToolProfile(demote=("*",)),
    }
    profile = profile_of("openai/gpt-4o", profiles)

    made = shaped(TOOLS, profile)

    assert names(made) == "web_fetch bash recall get_time read_file write_file"
    assert [tool.own_name for tool in made if tool.own_name] == ["shell"]
    assert profile_of("anthropic/x", profiles) == ToolProfile()


def test_models_of_openai_are_shown_the_plain_tools_first() -> None:
    tools = [tool("diff_edit"), tool("glob"), tool("read_file"), tool("shell")]

    assert (
        names(shaped(tools, profile_of("openai/gpt-4o", USUAL))) == "shell read_file glob diff_edit"
    )
    assert shaped(tools, profile_of("anthropic/x", USUAL)) == tools


def test_an_alias_slips_through_no_rule() -> None:
    made = shaped(TOOLS, ToolProfile(aliases={"shell": "bash"}))

    chosen = select_tools(made, channel="notebook", deny=("shell",))

    assert "bash" not in names(chosen)


def test_who_is_not_the_owner_changes_and_runs_nothing_and_strangers_see_nothing() -> None:
    channels = {
        "friends": ChannelTools(origin="known"),
        "public": ChannelTools(origin="stranger", deny=("get_time",)),
        "mine": ChannelTools(origin="owner"),
        "trusted": ChannelTools(origin="known", allow=("group:fs", "shell"), deny=("web_*",)),
    }
    offered = {
        name: names(select_tools(TOOLS, channel=name, channels=channels))
        for name in ("notebook", "chat", *channels)
    }

    assert offered == {
        "notebook": "read_file write_file shell web_fetch recall get_time",
        "chat": "read_file web_fetch get_time",
        "friends": "read_file web_fetch get_time",
        "public": "web_fetch",
        "mine": "read_file write_file web_fetch recall get_time",
        "trusted": "read_file write_file get_time",
    }


def test_groups_that_a_tool_also_belongs_to_name_it() -> None:
    tools = [tool("grep"), tool("python", "notebook", "execute"), tool("read_file")]

    assert names(select_tools(tools, channel="notebook", deny=("group:search",))) == (
        "python read_file"
    )
    assert names(select_tools(tools, channel="notebook", allow=("group:runtime",))) == "python"
    assert names(shaped(tools, ToolProfile(prefer=("group:search",)))) == "grep python read_file"
