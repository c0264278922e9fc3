"""``%octo`` and ``%%octo``: light until first used, so that a kernel starts as fast as plain."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Any, TypeVar

from IPython.core import error as ipython
from IPython.core.interactiveshell import InteractiveShell
from IPython.core.magic import (
    Magics,
    cell_magic,
    line_cell_magic,
    line_magic,
    magics_class,
    no_var_expand,
)

from octo_lab.core.errors import OctoError
from octo_lab.core.imports import installed_ones
from octo_lab.notebook.options import Parsed, options_help, parse_options
from octo_lab.notebook.tool_cell import define_tool

if TYPE_CHECKING:
    from octo_lab.notebook.face import Face
    from octo_lab.notebook.kernel_gateway import KernelGateway

T = TypeVar("T")

HELP = f"""Ask the agent that lives in this kernel.

  %octo PROMPT             ask; everything after the options is the prompt, as it stands
  %%octo [OPTIONS]         ask with the cell below as the prompt (Markdown)
  x = %octo PROMPT         keep the turn: x.text, x.tool_calls, x.usage, x.cost
  %octo                    status: model, session, cost, what fills the context, tools
  %octo /COMMAND           a slash command; %octo /help lists them
  %octo WORD               status, fix (asks about the last exception), doctor, models,
                           providers, router, tools, help,
                           trust (what this workspace's settings ask for)
  %octo providers test NAME
                           ask a provider one real question
  %%octo_tool              let the agent call the function that the cell defines
  %octo_gateway start      answer octo run, octo chat and web clients from this kernel
  %octo_record FILE        record the model traffic; %octo_replay FILE answers from it

{{{{ expr }}}} in a prompt is evaluated here; @name attaches a variable, a cell (@cell3) or a file.

Options (before the prompt; "--" ends them):
{options_help()}
"""


class OctoShell:
    """What a cell's code reaches as ``get_ipython().octo``; holds the face once it is needed."""

    def __init__(self, shell: InteractiveShell) -> None:
        self._shell = shell
        self._face: Face | None = None

    @property
    def face(self) -> Face:
        if self._face is None:
            # Pydantic, SQLAlchemy and HTTP: paid at the first use, not at every kernel start.
            with installed_ones():
                from octo_lab.notebook.face import Face

            self._face = Face(self._shell)
        return self._face

    @property
    def gateway(self) -> KernelGateway:
        face = self.face
        if face.gateway is None:
            # The web server: paid by those who serve, not by every first question.
            with installed_ones():
                from octo_lab.notebook.kernel_gateway import KernelGateway

            face.gateway = KernelGateway(face.runtime)
        return face.gateway

    @property
    def started(self) -> Face | None:
        """The face, if anything has used it."""
        return self._face

    async def await_line(self, line: str, *, used: bool, last: bool) -> Any:
        """What ``%octo`` means at the top level of a cell."""
        return await _awaited(lambda: self._run(line, None, last=last), used=used)

    async def await_cell(self, line: str, body: str, *, used: bool, last: bool) -> Any:
        """What ``%%octo`` means at the top level of a cell."""
        return await _awaited(lambda: self._run(line, body, last=last), used=used)

    async def _run(self, line: str, body: str | None, *, last: bool) -> Any:
        parsed = self.parse(line, body)
        return await self.face.run(parsed, quiet_end=last) if parsed else None

    def block(self, line: str, body: str | None) -> Any:
        """The same, blocking: inside a ``def`` and in code that is not a cell itself."""
        parsed = one_line(lambda: self.parse(line, body))
        return one_line(lambda: self.face.run_blocking(parsed)) if parsed else None

    def parse(self, line: str, body: str | None) -> Parsed | None:
        """The options and the prompt; None when there was only help to show."""
        parsed = parse_options(line)
        empty = body is not None and not (parsed.text.strip() or body.strip())
        if "help" in parsed.given or empty:
            print(HELP)  # noqa: T201 - help goes to the cell
            return None
        if body is None:
            return parsed
        said = body.removesuffix("\n").removesuffix("\r")
        text = f"{parsed.text}\n\n{said}" if parsed.text.strip() else said
        return Parsed(given=parsed.given, text=text)


@magics_class
class OctoMagics(Magics):
    """The magics themselves: what IPython calls when nothing awaits."""

    @no_var_expand
    @line_cell_magic
    def octo(self, line: str, cell: str | None = None) -> Any:
        return _octo(self.shell).block(line, cell)

    @no_var_expand
    @cell_magic
    def octo_tool(self, line: str, cell: str) -> None:
        """Let the agent call the function that this cell defines: ``%%octo_tool [OPTIONS]``."""
        one_line(lambda: define_tool(self.shell, _octo(self.shell), line, cell))

    @no_var_expand
    @line_magic
    def octo_gateway(self, line: str) -> None:
        """The gateway of this kernel: ``%octo_gateway start``, ``stop``, ``status``, ``logs``."""
        print(one_line(lambda: _octo(self.shell).gateway.do(line.strip())))  # noqa: T201 - to the cell

    @no_var_expand
    @line_magic
    def octo_record(self, line: str) -> None:
        """Record the model traffic of this notebook: ``%octo_record FILE``, then ``off``."""
        one_line(lambda: _octo(self.shell).face.use_cassette("record", line.strip()))

    @no_var_expand
    @line_magic
    def octo_replay(self, line: str) -> None:
        """Answer from a recording, with no network: ``%octo_replay FILE``, then ``off``."""
        one_line(lambda: _octo(self.shell).face.use_cassette("replay", line.strip()))


OctoMagics.octo.__doc__ = HELP


def _octo(shell: Any) -> OctoShell:
    octo: OctoShell = shell.octo
    return octo


def one_line(work: Callable[[], T]) -> T:
    """A person's mistake is one line, never a traceback."""
    try:
        return work()
    except OctoError as exc:
        raise ipython.UsageError(str(exc)) from None


async def _awaited(work: Callable[[], Awaitable[Any]], *, used: bool) -> Any:
    try:
        value = await work()
    except OctoError as exc:
        raise ipython.UsageError(str(exc)) from None
    return value if used else None
