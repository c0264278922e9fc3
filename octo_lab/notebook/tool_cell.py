"""``%%octo_tool``: a cell that defines a function, which becomes a tool."""

from __future__ import annotations

import ast
from typing import Any, Protocol

from octo_lab.core.errors import UsageError
from octo_lab.notebook.options import Option, number, options_help, parse_options

OPTIONS = (
    Option(names=("--name",), value="NAME", help="what the agent calls it; else the def's name"),
    Option(
        names=("--timeout",), value="SECONDS", help="stop after that time", read=number(float, 0.1)
    ),
    Option(names=("-h", "--help"), help="this help"),
)
HELP = f"""Let the agent call the function that this cell defines.

  %%octo_tool [OPTIONS]
  def area(width: float, height: float) -> float:
      "The area of a rectangle."
      return width * height

Type hints and docstring tell the agent how to call it; a generator shows what it yields.

Options:
{options_help(OPTIONS)}
"""


class HasFace(Protocol):
    """What holds the toolkit, once it is needed."""

    @property
    def face(self) -> Any: ...


def define_tool(shell: Any, octo: HasFace, line: str, body: str) -> None:
    """Run the cell and register its last function; an error in the cell is the cell's own.

    Raises UsageError when there is no function, or one no model could call.
    """
    parsed = parse_options(line, OPTIONS, magic="%%octo_tool")
    if "help" in parsed.given or not body.strip():
        print(HELP)  # noqa: T201 - help goes to the cell
        return
    if parsed.text.strip():
        raise UsageError(f"%%octo_tool takes no {parsed.text.strip()!r}", hint="--name NAME")
    name = _run(shell, body)
    octo.face.toolkit.tool(shell.user_ns[name], **parsed.given)


def _run(shell: Any, body: str) -> str:
    """Run the source as a cell would, with magics; the name of its last function."""
    source = shell.transform_cell(body)
    file = shell.compile.cache(source)
    tree = shell.transform_ast(ast.parse(source, file))
    names = [n.name for n in tree.body if isinstance(n, ast.FunctionDef | ast.AsyncFunctionDef)]
    if not names:
        raise UsageError("%%octo_tool needs a function", hint="write a def in the cell")
    exec(compile(tree, file, "exec", dont_inherit=True), shell.user_global_ns, shell.user_ns)
    return str(names[-1])
