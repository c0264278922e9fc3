"""Runs code in the user's namespace as a cell would, and leaves no trace of having run it."""

from __future__ import annotations

import ast
import asyncio
import inspect
import itertools
import linecache
import re
import traceback
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from types import CodeType
from typing import Any, TypeVar

from IPython.core.error import UsageError as IPythonUsageError
from IPython.core.interactiveshell import InteractiveShell

from octo_lab.core.errors import OctoError, ToolFailed
from octo_lab.core.text import head_and_tail
from octo_lab.notebook.capture import Capture, flush_figures

T = TypeVar("T")
FRAMES = 20  # of a traceback
KEPT = 200  # sources kept for later tracebacks
_CELL = re.compile(r"[\\/]ipykernel_\d+[\\/]\d+\.py$")
_numbers = itertools.count(1)


@dataclass(frozen=True, slots=True)
class Program:
    """Compiled code: statements, and the last expression whose value is shown."""

    statements: CodeType | None
    expression: CodeType | None

    @property
    def awaits(self) -> bool:
        codes = (self.statements, self.expression)
        return any(code is not None and code.co_flags & inspect.CO_COROUTINE for code in codes)


def compile_cell(shell: Any, source: str) -> Program:
    """Compile as IPython would (magics, top-level await). Raises SyntaxError and its kin."""
    name = f"<agent code {next(_numbers)}>"
    text = shell.transform_cell(source)
    _remember(name, text)
    tree = shell.transform_ast(ast.parse(text, name))
    last = tree.body[-1] if tree.body else None
    quiet = source.rstrip().endswith(";")
    shown = tree.body.pop() if isinstance(last, ast.Expr) and not quiet else None
    expression = ast.Expression(shown.value) if isinstance(shown, ast.Expr) else None
    return Program(
        statements=_compiled(tree, name, "exec") if tree.body else None,
        expression=_compiled(expression, name, "eval") if expression else None,
    )


def _compiled(tree: ast.Module | ast.Expression, name: str, mode: str) -> CodeType:
    code = compile(tree, name, mode, flags=ast.PyCF_ALLOW_TOP_LEVEL_AWAIT, dont_inherit=True)
    assert isinstance(code, CodeType)
    return code


def _remember(name: str, text: str) -> None:
    """Let tracebacks quote the source; only the newest sources are kept."""
    linecache.cache[name] = (len(text), None, text.splitlines(keepends=True), name)
    old = [key for key in linecache.cache if key.startswith("<agent code ")][:-KEPT]
    for key in old:
        del linecache.cache[key]


def run_program(shell: InteractiveShell, source: str, capture: Capture) -> Any:
    """Run ``source``; its last value is shown in ``capture``. Returns None or a coroutine.

    Raises ToolFailed with a traceback of the code's own frames.
    """
    program = _explained(lambda: compile_cell(shell, source), capture)
    if program.awaits:
        return _run_awaiting(shell, program, capture)
    _explained(lambda: _run(shell, program, capture), capture)
    return None


def _run(shell: InteractiveShell, program: Program, capture: Capture) -> None:
    with shell.builtin_trap:
        if program.statements is not None:
            exec(program.statements, shell.user_global_ns, shell.user_ns)
        if program.expression is not None:
            value = eval(program.expression, shell.user_global_ns, shell.user_ns)
            _show(shell, value, capture)
        flush_figures()


async def _run_awaiting(shell: InteractiveShell, program: Program, capture: Capture) -> None:
    async def run() -> None:
        with shell.builtin_trap:
            if program.statements is not None:
                await _evaluated(shell, program.statements)
            if program.expression is not None:
                _show(shell, await _evaluated(shell, program.expression), capture)
            flush_figures()

    try:
        await run()
    except (KeyboardInterrupt, asyncio.CancelledError, GeneratorExit):
        raise
    except BaseException as exc:  # noqa: BLE001 - the tool boundary, SystemExit included
        raise _failure(exc, capture) from None


async def _evaluated(shell: InteractiveShell, code: CodeType) -> Any:
    value = eval(code, shell.user_global_ns, shell.user_ns)
    is_coroutine = code.co_flags & inspect.CO_COROUTINE and isinstance(value, Awaitable)
    return await value if is_coroutine else value


def _show(shell: InteractiveShell, value: object, capture: Capture) -> None:
    if value is None:
        return
    data, _ = shell.display_formatter.format(value)  # type: ignore[union-attr]
    capture.show(data)


def _explained(work: Callable[[], T], capture: Capture) -> T:
    try:
        return work()
    except KeyboardInterrupt:
        raise
    except BaseException as exc:  # noqa: BLE001 - the tool boundary, SystemExit included
        raise _failure(exc, capture) from None


def _failure(exc: BaseException, capture: Capture) -> ToolFailed:
    if isinstance(exc, ToolFailed):
        return exc
    if isinstance(exc, OctoError | IPythonUsageError):
        return ToolFailed(str(exc))
    if isinstance(exc, SystemExit):
        return ToolFailed("exit() is not available here", hint="let the code end instead")
    printed = capture.text
    text = f"{printed}\n{traceback_text(exc)}" if printed else traceback_text(exc)
    return ToolFailed(head_and_tail(text, 10_000))


def traceback_text(exc: BaseException) -> str:
    """The traceback from the first frame of agent code on, and nothing of our own frames."""
    try:
        told = traceback.TracebackException.from_exception(exc, limit=-FRAMES)
    except Exception:  # noqa: BLE001 - an exception may be hostile
        return type(exc).__name__
    frames = [_readable(frame) for frame in told.stack if not _is_machinery(frame.filename)]
    told.stack = traceback.StackSummary.from_list(frames)
    return "".join(told.format()).strip()


def _is_machinery(file: str) -> bool:
    return file in (__file__, ast.__file__) or "/IPython/core/" in file.replace("\\", "/")


def _readable(frame: traceback.FrameSummary) -> traceback.FrameSummary:
    """A frame of a cell is called so; its temporary file's name says nothing to a reader."""
    name = "<cell>" if _CELL.search(frame.filename) else frame.filename
    return traceback.FrameSummary(
        name, frame.lineno, frame.name, lookup_line=False, line=frame.line
    )
