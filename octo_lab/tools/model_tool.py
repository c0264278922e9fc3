"""Makes a tool of an async function whose arguments are a pydantic model."""

from __future__ import annotations

import inspect
from collections.abc import Awaitable, Callable
from functools import partial
from typing import Any, TypeVar

from pydantic import BaseModel

from octo_lab.tools.arguments import validate
from octo_lab.tools.schema import object_schema
from octo_lab.tools.tool import Risk, Source, Tool, ToolContext, ToolResult

Args = TypeVar("Args", bound=BaseModel)


def model_tool(
    run: Callable[[ToolContext, Args], Awaitable[ToolResult | str]],
    args: type[Args],
    *,
    name: str,
    group: str,
    source: Source,
    risk: Risk = "read",
    **options: Any,
) -> Tool:
    """A tool described by the docstring of ``run``, also of a partial one, and ``args``' fields.

    ``options`` are the other fields of ``Tool``: channels, asks, detail, timeout.
    """
    return Tool(
        name=name,
        description=inspect.getdoc(run.func if isinstance(run, partial) else run) or "",
        schema=object_schema(args),
        parse=partial(validate, args, name),
        run=run,
        group=group,
        source=source,
        risk=risk,
        **options,
    )
