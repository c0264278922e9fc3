"""Input transforms: ``%octo`` gets its text untouched, and is awaited where a cell can await."""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from types import FrameType
from typing import Any

from IPython.core.async_helpers import _asyncio_runner
from IPython.core.inputtransformer2 import make_tokens_by_line
from IPython.core.interactiveshell import InteractiveShell
from IPython.core.magic import MagicAlias

MAGIC = "octo"
_CALLS = {"run_line_magic": "await_line", "run_cell_magic": "await_cell"}
_HELP = re.compile(r"\s*\?{1,2}\s*$")
_CELL_MAGIC = re.compile(r"\s*%%\w")
_COMMENT = re.compile(r"\s*(#.*)?$")
_LEFT = r"[ \t]*(?:return[ \t]+|[^\n=%#'\"()!?]+=[ \t]*)?"


@dataclass(frozen=True, slots=True)
class Untouched:
    """Cleanup transform: turns a magic into its call before IPython reads its text as Python.

    Runs first, so that prompt markers, a trailing ``?``, odd line ends and indents survive.
    """

    shell: InteractiveShell
    has_side_effects = True  # keeps it out of is_complete, which must see the magic itself

    def __call__(self, lines: list[str]) -> list[str]:
        text = "".join(lines)
        if "%" not in text:
            return lines
        found = cell_magic_call(text, self._names("cell"))
        if found is None and _CELL_MAGIC.match(text):
            return lines  # its body belongs to that magic: a script, a file to write, a timing
        if found is None:
            found = line_magic_calls(text, self._names("line"))
        return found.splitlines(keepends=True) if found != text else lines

    def _names(self, kind: str) -> dict[str, str]:
        """Every name of the magic, with the parameters an alias of that name puts first."""
        names = {MAGIC: ""}
        for name, magic in self.shell.magics_manager.magics[kind].items():
            if isinstance(magic, MagicAlias) and magic.magic_name == MAGIC:
                names[name] = f"{magic.magic_params} " if magic.magic_params else ""
        return names


def cell_magic_call(text: str, names: Mapping[str, str]) -> str | None:
    """The call for a cell that is an ``%%octo`` cell, below blank and comment lines; else None."""
    lines = text.split("\n")
    at = next((i for i, line in enumerate(lines) if not _COMMENT.match(line)), None)
    if at is None or not (match := _header(names).match(lines[at])):
        return None
    line, body = names[match[1]] + match[2], "\n".join(lines[at + 1 :])
    call = f"get_ipython().run_cell_magic({MAGIC!r}, {_header_text(line)!r}, {body!r})\n"
    return "".join(f"{line.lstrip()}\n" for line in lines[:at]) + call


def _header(names: Mapping[str, str]) -> re.Pattern[str]:
    return re.compile(rf"[ \t]*%%({'|'.join(map(re.escape, names))})(?![\w?])[ \t]?(.*)$", re.S)


def _header_text(line: str) -> str:
    return line.removesuffix("\r")


def line_magic_calls(text: str, names: Mapping[str, str]) -> str:
    """``text`` with each ``%octo ...`` and ``x = %octo ...`` line turned into its call."""
    pattern = re.compile(rf"({_LEFT})%({'|'.join(map(re.escape, names))})(?!\w)(.*)$", re.S)
    lines = text.split("\n")
    done: list[str] = []
    while lines:
        line = lines.pop(0)
        match = pattern.match(line)
        if not match or _HELP.match(match[3]) or not _begins_statement(done, match[1]):
            done.append(line)
            continue
        rest = _continued(match[3], lines)
        said = names[match[2]] + rest.removeprefix(" ")
        done.append(f"{match[1]}get_ipython().run_line_magic({MAGIC!r}, {said!r})")
    return "\n".join(done)


def _continued(rest: str, lines: list[str]) -> str:
    """Join lines that end in a backslash, as IPython does; the last line may end in one."""
    while rest.endswith("\\") and any(lines):
        rest = f"{rest[:-1]} {lines.pop(0)}"
    return rest


def _begins_statement(before: list[str], left: str) -> bool:
    """Whether a statement begins after the lines ``before``: not inside a string or bracket."""
    mark = "octo_mark"
    tokens = make_tokens_by_line([*(f"{line}\n" for line in before), f"{left}{mark}\n"])
    row = len(before) + 1
    for line in tokens:
        starts = [token for token in line if token.string.strip()]
        if starts and any(token.string == mark and token.start[0] == row for token in line):
            return bool(starts[0].start[0] == row)
    return False


@dataclass(frozen=True, slots=True)
class Awaited:
    """Post transform: the calls of the magic that a cell can await are awaited.

    Inside a ``def``, and in code that is not itself a cell (``%%time``, ``run_cell``), the call
    stays as it is: it blocks. Nowhere is a turn the value of its cell: it is on display already.
    """

    shell: InteractiveShell

    def __call__(self, lines: list[str]) -> list[str]:
        text = "".join(lines)
        if f"_magic({MAGIC!r}" not in text:
            return lines
        rewrite = await_calls if self._can_await() else silence_last
        return rewrite(text).splitlines(keepends=True)

    def _can_await(self) -> bool:
        asyncio = self.shell.loop_runner is _asyncio_runner
        return bool(self.shell.autoawait and asyncio and not _inside_a_cell())


def _inside_a_cell() -> bool:
    frame: FrameType | None = sys._getframe()
    code: Any = InteractiveShell.run_code.__code__
    while frame is not None and frame.f_code is not code:
        frame = frame.f_back
    return frame is not None


def await_calls(text: str) -> str:
    """``text`` with each top-level call of the magic awaited; unchanged if it is no Python."""
    try:
        tree = ast.parse(text)
    except (SyntaxError, ValueError):
        return text
    rows = text.encode().split(b"\n")
    for place in sorted(_places(tree), key=lambda p: (p.call.lineno, p.call.col_offset))[::-1]:
        _rewrite(rows, place)
    return b"\n".join(rows).decode()


def silence_last(text: str) -> str:
    """``text`` whose last statement, if it is a call of the magic, has no value to show again."""
    try:
        tree = ast.parse(text)
    except (SyntaxError, ValueError):
        return text
    last = tree.body[-1] if tree.body else None
    if not (isinstance(last, ast.Expr) and isinstance(last.value, ast.Call)):
        return text
    if not _is_magic(last.value) or last.end_lineno != last.lineno:
        return text
    rows = text.encode().split(b"\n")
    start, end = last.col_offset, last.end_col_offset
    row = rows[last.lineno - 1]
    rows[last.lineno - 1] = row[:start] + b"(" + row[start:end] + b", None)[1]" + row[end:]
    return b"\n".join(rows).decode()


@dataclass(frozen=True, slots=True)
class _Place:
    """One call: its value is ``used`` by the cell, or it is the ``last`` thing the cell does."""

    call: ast.Call
    used: bool
    last: bool


def _places(tree: ast.Module) -> Iterator[_Place]:
    statements = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    last = getattr(tree.body[-1], "value", None) if tree.body else None
    for call in _calls(tree):
        yield _Place(call, used=id(call) not in statements, last=call is last)


def _calls(node: ast.AST) -> Iterator[ast.Call]:
    """Calls of the magic in a place where ``await`` is allowed and not yet there."""
    if isinstance(node, (ast.FunctionDef, ast.Lambda, ast.ClassDef, ast.GeneratorExp, ast.Await)):
        return
    if isinstance(node, ast.Call) and _is_magic(node):
        yield node
        return
    for child in ast.iter_child_nodes(node):
        yield from _calls(child)


def _is_magic(call: ast.Call) -> bool:
    match call:
        case ast.Call(
            func=ast.Attribute(
                value=ast.Call(func=ast.Name(id="get_ipython"), args=[]), attr=attribute
            ),
            args=[ast.Constant(value=name), *_],
        ):
            return attribute in _CALLS and name == MAGIC
    return False


def _rewrite(rows: list[bytes], place: _Place) -> None:
    """Put the awaiting call in place; calls made by a transform lie on one line."""
    call = place.call
    assert isinstance(call.func, ast.Attribute)
    if call.end_lineno != call.lineno or call.end_col_offset is None:
        return
    row = rows[call.lineno - 1]
    texts = ", ".join(ast.unparse(argument) for argument in call.args[1:])
    method = _CALLS[call.func.attr]
    how = f"used={place.used}, last={place.last}"
    new = f"(await get_ipython().octo.{method}({texts}, {how}))".encode()
    rows[call.lineno - 1] = row[: call.col_offset] + new + row[call.end_col_offset :]


Transform = Callable[[list[str]], list[str]]


def install_transforms(shell: InteractiveShell) -> None:
    """Ours come first before IPython's, and last after them; installing twice is harmless."""
    remove_transforms(shell)
    shell.input_transformers_cleanup.insert(0, Untouched(shell))
    shell.input_transformers_post.append(Awaited(shell))


def remove_transforms(shell: InteractiveShell) -> None:
    for chain in (shell.input_transformers_cleanup, shell.input_transformers_post):
        chain[:] = [t for t in chain if not isinstance(t, Untouched | Awaited)]
