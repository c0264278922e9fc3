"""The cell that loads the extension: what follows in it is read anew, with the magics known."""

from __future__ import annotations

import ast
import sys
from types import CodeType, FrameType
from typing import Any

from IPython.core.interactiveshell import InteractiveShell

_CELL: Any = InteractiveShell.run_cell_async.__code__
_STATEMENTS: Any = InteractiveShell.run_ast_nodes.__code__
_AWAITED = {"await_line", "await_cell"}


def read_the_rest_anew(shell: Any) -> None:
    """Replace the statements after the running one, which IPython made of an unknown magic.

    It transforms a whole cell before it runs the first line, so that ``%octo what is this?``
    below ``%load_ext`` would have asked for its own help. IPython runs the statements one by one
    from a list. Here they block, since the cell's loop was chosen before, too.
    """
    running, cell = _frame(_STATEMENTS), _frame(_CELL)
    if running is None or cell is None:
        return
    queue, node = running.f_locals["to_run"], running.f_locals["node"]
    now = next(i for i, (queued, _) in enumerate(queue) if queued is node)
    read = _read(shell, str(cell.f_locals["raw_cell"]))
    done = [queued for queued, _ in queue[: now + 1]]
    if _dumps(read[: now + 1]) == _dumps(done) and not _knew_the_magic(queue[now + 1 :]):
        queue[now + 1 :] = _modes(read[now + 1 :], shell.ast_node_interactivity)


def _frame(code: CodeType) -> FrameType | None:
    frame: FrameType | None = sys._getframe()
    while frame is not None and frame.f_code is not code:
        frame = frame.f_back
    return frame


def _read(shell: Any, raw: str) -> list[ast.stmt]:
    try:
        tree = ast.parse(shell.transform_cell(raw))
    except (SyntaxError, ValueError):
        return []
    return list(shell.transform_ast(tree).body)


def _dumps(nodes: list[ast.stmt]) -> list[str]:
    return [ast.dump(node) for node in nodes]


def _knew_the_magic(queue: list[tuple[ast.stmt, str]]) -> bool:
    """At a reload the transforms were there: the calls are awaited already."""
    nodes = (node for statement, _ in queue for node in ast.walk(statement))
    return any(isinstance(node, ast.Attribute) and node.attr in _AWAITED for node in nodes)


def _modes(nodes: list[ast.stmt], interactivity: str) -> list[tuple[ast.stmt, str]]:
    """Each with its way to run: the value of a ``single`` one is shown."""
    shown = {"all": len(nodes), "none": 0}.get(interactivity, 1)
    first = len(nodes) - shown
    return [
        (node, "single" if i >= first and isinstance(node, ast.Expr) else "exec")
        for i, node in enumerate(nodes)
    ]
