"""A workspace, a namespace and the tools over them: the world that the requests are about."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from pydantic import BaseModel

from octo_lab.agent.limits import Limits
from octo_lab.agent.loop import Agent, TurnInput
from octo_lab.agent.prompt import PromptFacts, system_prompt
from octo_lab.agent.transcript import Transcript
from octo_lab.core.errors import ToolFailed
from octo_lab.core.events import Emit
from octo_lab.core.messages import Message, ToolCall
from octo_lab.llm.http import ModelHttp
from octo_lab.llm.provider_config import ProviderConfig
from octo_lab.llm.providers.offline import ENTRY
from octo_lab.notebook.describe import describe, short
from octo_lab.testing.providers import ScriptedApprover
from octo_lab.tools.builtin import get_time, grep, list_dir, octo_docs, octo_status, read_file
from octo_lab.tools.model_tool import model_tool
from octo_lab.tools.tool import Tool, ToolContext, ToolResult

FILES = {
    "README.md": "# Fruit shop\n\nWe sell banana and apple.\nTODO write more\n\nEnd.\n",
    "notes.txt": "buy milk\ncall Paul\ntimeout is 30\nfinish report\n",
    "my report.txt": "quarterly numbers\n",
    "setup.cfg": "[metadata]\nname = shop\n",
    "笔记.txt": "第一行\n第二行\n",
    "src/app.py": "import os\n\ndef load():\n    return 1\n\nTODO = parse_config\n",
    "src/config.py": "timeout = 30\n\ndef load_settings(): ...\n\ndef parse_config(): ...\n",
    "src/utils/strings.py": "def upper(text):\n    return text.upper()\n",
    "docs/guide.md": "The octopus guide. Banane heißt banana.\n",
    "docs/install.md": "pip install shop\n",
    "data/sales.csv": "region,revenue\nnorth,100\n",
    "data/weather.csv": "day,rain\n1,0\n",
    "logs/error.log": "error: disk full\n错误：磁盘\n",
}


class PythonArgs(BaseModel):
    code: str


class InspectArgs(BaseModel):
    name: str


class NoArgs(BaseModel):
    pass


def make_files(workspace: Path) -> None:
    for name, text in FILES.items():
        (workspace / name).parent.mkdir(parents=True, exist_ok=True)
        (workspace / name).write_text(text, encoding="utf-8")


def make_namespace() -> dict[str, Any]:
    df = pd.DataFrame(
        {
            "city": ["Paris", "Rome", "Paris", "Rome"],
            "price": [10, 40, 20, 10],
            "qty": [10, 20, 30, 40],
            "Date": ["2024-01-01", "2024-01-02", "2024-01-03", "2024-01-04"],
        }
    )
    sales = pd.DataFrame(
        {"region": ["n", "s", "e"], "revenue": [100, 200, None], "units": [1, 2, 3]}
    )
    return {
        "df": df,
        "sales": sales,
        "x": 42,
        "names": ["Ann", "Bob", "Cy"],
        "scores": {"Ann": 3, "Bob": 5},
        "arr": np.arange(6).reshape(2, 3),
        "greet": make_files,
    }


@dataclass(slots=True)
class World:
    """Everything a request can touch; ``values`` are those that ``python`` gave."""

    workspace: Path
    namespace: dict[str, Any] = field(default_factory=make_namespace)
    values: list[Any] = field(default_factory=list)

    def __post_init__(self) -> None:
        make_files(self.workspace)

    def tools(self) -> tuple[Tool, ...]:
        return (*self.file_tools(), *self.kernel_tools())

    def file_tools(self) -> tuple[Tool, ...]:
        """What there is in a terminal."""

        async def status(ctx: ToolContext) -> str:
            return "model: offline/helper"

        files = (list_dir.TOOL, read_file.TOOL, grep.TOOL)
        return (*files, get_time.TOOL, octo_docs.TOOL, octo_status.status_tool(status))

    def kernel_tools(self) -> tuple[Tool, ...]:
        """Tools that answer as a kernel's do, over the namespace."""

        async def python(ctx: ToolContext, args: PythonArgs) -> str:
            """Run code."""
            try:
                value = self._value(args.code)
            except Exception as exc:  # noqa: BLE001 - the code of a request may raise anything
                raise ToolFailed(f"Traceback:\n{type(exc).__name__}: {exc}") from None
            self.values.append(value)
            return "Done; no output." if value is None else repr(value)

        async def list_variables(ctx: ToolContext, args: NoArgs) -> str:
            """List variables."""
            return "\n".join(f"{name}: {short(value)}" for name, value in self.namespace.items())

        async def inspect(ctx: ToolContext, args: InspectArgs) -> ToolResult:
            """Describe a variable."""
            if args.name not in self.namespace:
                raise ToolFailed(f"No variable is called {args.name!r}")
            value = self.namespace[args.name]
            text = f"{args.name} ({type(value).__name__}):\n{describe(value)[0]}"
            return ToolResult(text=text)

        return (
            model_tool(
                python, PythonArgs, name="python", group="kernel", source="workspace", asks=True
            ),
            model_tool(
                list_variables, NoArgs, name="list_variables", group="kernel", source="workspace"
            ),
            model_tool(
                inspect,
                InspectArgs,
                name="inspect",
                group="kernel",
                source="workspace",
            ),
        )

    def _value(self, code: str) -> Any:
        tree = ast.parse(code)
        last = tree.body.pop() if tree.body and isinstance(tree.body[-1], ast.Expr) else None
        scope = dict(self.namespace)
        exec(compile(tree, "code", "exec"), scope)
        if last is None:
            return None
        assert isinstance(last, ast.Expr)
        return eval(compile(ast.Expression(last.value), "code", "eval"), scope)

    def context(self, call: ToolCall, emit: Emit) -> ToolContext:
        return ToolContext(
            workspace=self.workspace,
            channel="notebook",
            chat_id="c",
            session="s",
            turn_id="t",
            call_id=call.id,
            report=lambda line: None,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Answered:
    """What came of one request: the calls in order, and the last words."""

    calls: tuple[ToolCall, ...]
    results: tuple[Message, ...]
    text: str


async def ask(
    world: World,
    text: str,
    *,
    tools: Sequence[Tool] | None = None,
    decision: str = "once",
    history: Sequence[Message] = (),
    channel: str = "notebook",
) -> Answered:
    """One turn of the real loop with the offline provider."""
    config = ProviderConfig(name="offline", model="helper", http=ModelHttp())
    transcript = Transcript()
    kept: list[Message] = []

    async def keep(step: Sequence[Message]) -> None:
        kept.extend(step)

    agent = Agent(
        provider=ENTRY.open(config),
        tools=world.tools() if tools is None else tools,
        approver=ScriptedApprover(decision),  # type: ignore[arg-type]
        context=world.context,
        limits=Limits(),
    )
    system = system_prompt(PromptFacts(channel=channel))
    turn = TurnInput(system=system, history=history, user=Message(role="user", content=text))
    ending = await agent.run(turn, transcript, lambda event: None, keep)
    messages = [*kept, *ending.final]
    return Answered(
        calls=tuple(call for message in messages for call in message.tool_calls),
        results=tuple(message for message in messages if message.role == "tool"),
        text="".join(message.content for message in messages if message.role == "assistant"),
    )
