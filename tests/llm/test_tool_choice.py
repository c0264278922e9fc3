from __future__ import annotations

import json
from typing import Literal

import pytest

from octo_lab.core.errors import UsageError
from octo_lab.core.messages import ChatRequest, Message, OneTool, ToolChoice, ToolSpec
from octo_lab.llm.hints import ModelHints
from octo_lab.llm.http import ModelHttp
from octo_lab.llm.provider_config import ProviderConfig
from octo_lab.llm.tool_choice import offered
from octo_lab.llm.wires.dialects import DIALECTS
from octo_lab.llm.wires.wire import Wire

F, G = (ToolSpec(name=name, description="", schema={"type": "object"}) for name in "fg")


def request(choice: ToolChoice, *tools: ToolSpec) -> ChatRequest:
    return ChatRequest(
        messages=[Message(role="user", content="hi")], tools=tools, tool_choice=choice
    )


@pytest.mark.parametrize(
    ("level", "choice", "names", "told"),
    [
        ("name", "auto", "fg", "auto"),
        ("name", "none", "fg", "none"),
        ("name", "required", "fg", "required"),
        ("name", OneTool("g"), "fg", OneTool("g")),
        ("required", "none", "fg", "none"),
        ("required", OneTool("g"), "g", "required"),
        ("auto", "required", "fg", "auto"),
        ("auto", OneTool("g"), "g", "auto"),
        ("auto", "none", "", "auto"),
    ],
)
def test_a_choice_is_told_as_far_as_the_server_lets(
    level: Literal["name", "required", "auto"], choice: ToolChoice, names: str, told: ToolChoice
) -> None:
    tools, said = offered(request(choice, F, G), ModelHints(tool_choice=level))
    assert ("".join(tool.name for tool in tools), said) == (names, told)


@pytest.mark.parametrize("choice", ["auto", "required", "none", OneTool("f")])
def test_without_tools_or_for_a_model_without_them_nothing_is_demanded(choice: ToolChoice) -> None:
    assert offered(request(choice), ModelHints()) == ((), "auto")
    assert offered(request(choice, F), ModelHints(tools=False)) == ((), "auto")


def test_a_demanded_tool_that_is_not_there_is_a_mistake_of_the_caller() -> None:
    with pytest.raises(UsageError, match=r"'h' is not offered \(offered: f, g\)"):
        offered(request(OneTool("h"), F, G), ModelHints())


@pytest.mark.parametrize("wire", DIALECTS.values(), ids=list(DIALECTS))
def test_in_each_dialect_a_server_that_forbids_no_call_is_offered_no_tool(wire: Wire) -> None:
    config = ProviderConfig(name="lab", model="m", http=ModelHttp(), base_url="http://h/v1")
    asked = wire.write(request("none", F, G), config, ModelHints(tool_choice="auto"))
    body = json.loads(asked.body)
    assert "tools" not in body or body.get("tool_choice") == {"type": "none"}
