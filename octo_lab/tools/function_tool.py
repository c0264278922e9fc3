"""Makes a tool of a plain Python function, sync or async, or of a generator."""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable
from functools import partial
from typing import Any, Protocol, TypeVar, cast, overload

from pydantic import BaseModel

from octo_lab.core.errors import UsageError
from octo_lab.tools.answer import as_result
from octo_lab.tools.arguments import validate
from octo_lab.tools.schema import object_schema
from octo_lab.tools.signature import Signature, read_signature
from octo_lab.tools.threads import Threads
from octo_lab.tools.tool import Tool, ToolContext, ToolResult
from octo_lab.tools.yielding import exhaust, exhaust_async, is_async

Function = TypeVar("Function", bound=Callable[..., Any])
Call = Callable[[Callable[[], Any]], Awaitable[Any]]
"""How a function is run: takes a function without parameters, gives its value.

For an async function the inner one returns a coroutine, and the strategy awaits it.
"""

_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_-]{0,63}")


async def on_loop(function: Callable[[], Any]) -> Any:
    """Await an async function on the loop of the turn."""
    return await function()


def function_tool(
    function: Callable[..., Any],
    *,
    name: str | None = None,
    description: str | None = None,
    timeout: float = 120.0,
    call: Call | None = None,
    call_async: Call | None = None,
    **options: Any,
) -> Tool:
    """A tool from a function's name, type hints and docstring.

    Parameters are described by the docstring (Google, NumPy or reST style) or by
    ``Annotated[..., Field(description=...)]``; one annotated ``ToolContext`` is given the
    context and is not shown to the model. ``call`` runs sync functions (default: in a thread),
    ``call_async`` async ones (default: on the turn's loop). ``options`` are other fields of
    ``Tool``: group, source, risk, channels, asks, detail. Each yield of a generator is a line of
    progress; its return value, else its last yield, is the result. Raises UsageError when a
    model could not call the function.
    """
    named = _tool_name(function, name)
    signature = read_signature(function, named)
    return Tool(
        name=named,
        description=description or signature.description,
        schema=object_schema(signature.args),
        parse=partial(validate, signature.args, named),
        run=_runner(function, signature, call or Threads(named), call_async or on_loop),
        timeout=timeout,
        **({"group": "function", "source": "workspace"} | options),
    )


class ToolDecorator(Protocol):
    """``@tool`` or ``@tool(name=..., timeout=...)``."""

    @overload
    def __call__(self, function: Function, /) -> Function: ...

    @overload
    def __call__(self, /, **options: Any) -> Callable[[Function], Function]: ...


def tool_decorator(register: Callable[[Tool], None], **defaults: Any) -> ToolDecorator:
    """A decorator for functions, used bare or with the options of ``function_tool``.

    It hands the tool to ``register`` and leaves the function as it is; ``defaults`` are options
    for every tool made with it.
    """

    def decorate(function: Callable[..., Any] | None = None, /, **options: Any) -> Any:
        if function is None:
            return partial(decorate, **options)
        register(function_tool(function, **(defaults | options)))
        return function

    return cast(ToolDecorator, decorate)


def _tool_name(function: Callable[..., Any], name: str | None) -> str:
    if not callable(function):
        raise UsageError(f"{function!r} is no function", hint="put @tool above a def")
    named = name or str(getattr(function, "__name__", type(function).__name__))
    if not _NAME.fullmatch(named):
        raise UsageError(
            f"{named!r} is no tool name",
            hint='give one of letters, digits, "_" and "-": name="my_tool"',
        )
    return named


def _runner(
    function: Callable[..., Any], signature: Signature, call: Call, call_async: Call
) -> Callable[[ToolContext, BaseModel], Awaitable[ToolResult]]:
    awaited = is_async(signature.function)

    async def run(ctx: ToolContext, values: BaseModel) -> ToolResult:
        args, kwargs = signature.bind(values, ctx)

        async def answer() -> ToolResult:
            return as_result(await exhaust_async(function(*args, **kwargs), ctx.report))

        def answer_now() -> ToolResult:
            return as_result(exhaust(function(*args, **kwargs), ctx.report))

        given = await (call_async(answer) if awaited else call(answer_now))
        return cast(ToolResult, given)

    return run
