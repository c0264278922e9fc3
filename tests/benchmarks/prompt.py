"""Tokens that go with every request before anything is said: the rules, and tools one by one."""

from __future__ import annotations

import json
import tempfile
from pathlib import Path

import anyio

from octo_lab.agent.prompt import PromptFacts, system_prompt
from octo_lab.app import Setup, open_app
from octo_lab.config.settings import Settings
from octo_lab.core.messages import ToolSpec
from octo_lab.llm.tokens import estimate_tokens
from octo_lab.testing.providers import ScriptedProvider
from octo_lab.tools.policy import select_tools

CHANNEL, LARGEST = "notebook", 5


async def offered(folder: Path) -> list[ToolSpec]:
    """Those of a turn without a kernel."""
    setup = Setup(
        settings=Settings(),
        workspace=folder,
        data_folder=folder / "data",
        environ={},
        provider=ScriptedProvider(),
    )
    async with open_app(setup) as app:
        return [tool.spec for tool in select_tools(app.tools, channel=CHANNEL)]


def tokens_of(spec: ToolSpec) -> int:
    """As it is written for most vendors."""
    told = {"name": spec.name, "description": spec.description, "parameters": dict(spec.schema)}
    return estimate_tokens(json.dumps(told, ensure_ascii=False, separators=(",", ":")))


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        specs = anyio.run(offered, Path(folder).resolve())
    facts = PromptFacts(channel=CHANNEL, tools=[spec.name for spec in specs])
    rules = estimate_tokens(system_prompt(facts))
    costs = sorted(((tokens_of(spec), spec.name) for spec in specs), reverse=True)
    tools = sum(tokens for tokens, _ in costs)
    largest = ", ".join(f"{name} {tokens}" for tokens, name in costs[:LARGEST])
    print(f"\nFixed tokens per request, about: {rules + tools:,}")
    print(f"  rules of the prompt   {rules:5,}")
    print(f"  {len(specs)} tools              {tools:5,}   the largest: {largest}")


if __name__ == "__main__":
    main()
