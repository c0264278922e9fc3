"""Tools that look at the user's variables and change nothing."""

from __future__ import annotations

import difflib
from collections.abc import Callable, Collection
from functools import partial
from types import ModuleType
from typing import Any

from IPython.core.interactiveshell import InteractiveShell
from pydantic import BaseModel, ConfigDict, Field

from octo_lab.core.errors import ToolFailed
from octo_lab.notebook.bridge import Bridge
from octo_lab.notebook.describe import describe, short
from octo_lab.notebook.private_variables import PrivateVariables
from octo_lab.tools.model_tool import model_tool
from octo_lab.tools.tool import Tool, ToolContext, ToolResult

LISTED = 200


class ListArgs(BaseModel):
    """What list_variables takes."""

    model_config = ConfigDict(extra="forbid")

    filter: str = Field(default="", description="Only names or types that contain this text.")


class InspectArgs(BaseModel):
    """What inspect takes."""

    model_config = ConfigDict(extra="forbid")

    name: str = Field(description="The name of a variable; attributes may follow: df.columns")


def variable_tools(
    shell: InteractiveShell, bridge: Callable[[], Bridge], private: PrivateVariables
) -> tuple[Tool, Tool]:
    """``list_variables`` and ``inspect`` for one kernel."""

    async def list_variables(ctx: ToolContext, args: ListArgs) -> str:
        """List the variables of the notebook with their types and values in short.

        Of those that the person marked as private the types only.
        """
        names = private.names(ctx.screen.private.variables)
        return str(await bridge().call(partial(_list, shell, args.filter, names)))

    async def inspect(ctx: ToolContext, args: InspectArgs) -> ToolResult:
        """Describe a variable of the notebook: of a DataFrame its shape, dtypes, head, nulls."""
        if name := private.in_code(args.name, ctx.screen.private.variables):
            ctx.taint.mark(f"inspect read {name!r}")
        text, media = await bridge().call(partial(_inspect, shell, args.name))
        return ToolResult(text=text, media=media)

    only_here: dict[str, Any] = {
        "group": "notebook",
        "source": "workspace",
        "channels": frozenset({"notebook"}),
    }
    return (
        model_tool(list_variables, ListArgs, name="list_variables", **only_here),
        model_tool(inspect, InspectArgs, name="inspect", **only_here),
    )


def user_variables(shell: InteractiveShell) -> dict[str, Any]:
    """What the person made: no names of IPython's, no modules, nothing that begins with ``_``."""
    hidden: Any = shell.user_ns_hidden
    return {
        name: value
        for name, value in list(shell.user_ns.items())
        if not name.startswith("_")
        and not isinstance(value, ModuleType)
        and not (name in hidden and hidden[name] is value)
    }


def _list(shell: InteractiveShell, wanted: str, private: Collection[str]) -> str:
    rows = [
        f"{name}: {f'{type(value).__name__} (private)' if name in private else short(value)}"
        for name, value in user_variables(shell).items()
    ]
    rows = [row for row in rows if wanted.lower() in row.lower()]
    if not rows:
        return "There are no such variables." if wanted else "There are no variables."
    more = [f"… {len(rows) - LISTED} more"] if len(rows) > LISTED else []
    return "\n".join(rows[:LISTED] + more)


def _inspect(shell: InteractiveShell, path: str) -> tuple[str, Any]:
    name, *attributes = path.split(".")
    if not all(part.isidentifier() for part in (name, *attributes)):
        raise ToolFailed(f"{path!r} is no variable name", hint="use the tool python for code")
    if name not in shell.user_ns:
        raise ToolFailed(f"No variable is called {name!r}", hint=_near(name, user_variables(shell)))
    value = shell.user_ns[name]
    for attribute in attributes:
        value = _attribute(value, attribute, path)
    text, media = describe(value)
    return f"{path} ({type(value).__name__}):\n{text}", media


def _near(name: str, known: Collection[str]) -> str:
    near = difflib.get_close_matches(name, known, n=1)
    return (
        f"did you mean {near[0]!r}?" if near else f"there are: {', '.join([*known][:30]) or 'none'}"
    )


def _attribute(value: object, name: str, path: str) -> object:
    try:
        return getattr(value, name)
    except Exception as exc:  # noqa: BLE001 - a value's own code may raise anything
        raise ToolFailed(f"{path!r}: {type(exc).__name__}: {exc}") from None
