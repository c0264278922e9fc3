"""The tools there are: the built-in ones and those of installed plugins.

A new built-in tool is one file in ``tools/builtin`` and one line below: in ``BUILTIN`` when it
makes a ``TOOL``, in ``POWERED`` when it has a ``tool(powers)`` that makes one.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from importlib.metadata import EntryPoint, entry_points

from octo_lab.tools.builtin import (
    browser,
    code_structure,
    deep_search,
    diff_edit,
    edit_file,
    exec_session,
    get_time,
    git,
    glob,
    grep,
    http_request,
    list_dir,
    octo_docs,
    read_file,
    shell,
    site_crawl,
    take_photo,
    web_fetch,
    web_search,
    write_file,
)
from octo_lab.tools.powers import Powers
from octo_lab.tools.tool import Tool

log = logging.getLogger(__name__)

GROUP = "octo_lab.tools"
BUILTIN: tuple[Tool, ...] = (
    read_file.TOOL,
    write_file.TOOL,
    edit_file.TOOL,
    diff_edit.TOOL,
    code_structure.TOOL,
    glob.TOOL,
    list_dir.TOOL,
    grep.TOOL,
    get_time.TOOL,
    octo_docs.TOOL,
)
POWERED: tuple[Callable[[Powers], Tool], ...] = (
    shell.tool,
    exec_session.tool,
    git.tool,
    web_search.tool,
    web_fetch.tool,
    http_request.tool,
    browser.tool,
    site_crawl.tool,
    deep_search.tool,
    take_photo.tool,
)
_NAMES = frozenset(
    {*(tool.name for tool in BUILTIN), *(made.__module__.rpartition(".")[2] for made in POWERED)}
)


@dataclass(frozen=True, slots=True, kw_only=True)
class LoadedTools:
    """What the plugins gave, and one line for each that could not be used."""

    tools: tuple[Tool, ...]
    problems: tuple[str, ...]


def builtin_tools(powers: Powers | None = None) -> tuple[Tool, ...]:
    """The tools that come with octo_lab and need no kernel; without ``powers`` only those that
    reach no further than the files of the workspace.
    """
    return BUILTIN if powers is None else (*BUILTIN, *(make(powers) for make in POWERED))


def plugin_tools(entries: Iterable[EntryPoint] | None = None) -> LoadedTools:
    """Load the tools of installed plugins (entry-point group ``octo_lab.tools``).

    An entry point names a ``Tool`` or a sequence of them. One that fails to load, or takes the
    name of another tool, is reported and left out.
    """
    found = entry_points(group=GROUP) if entries is None else entries
    tools: dict[str, Tool] = {}
    problems: list[str] = []
    for entry in found:
        loaded = _load(entry)
        if isinstance(loaded, str):
            problems.append(loaded)
            continue
        problems += _add(tools, loaded, entry.name)
    return LoadedTools(tools=tuple(tools.values()), problems=tuple(problems))


def _load(entry: EntryPoint) -> tuple[Tool, ...] | str:
    try:
        loaded = entry.load()
    except Exception as exc:
        log.warning("Tool plugin %r", entry.name, exc_info=exc)
        return f"The tool plugin {entry.name!r} could not be loaded: {type(exc).__name__}: {exc}"
    tools = (loaded,) if isinstance(loaded, Tool) else loaded
    if isinstance(tools, (tuple, list)) and all(isinstance(tool, Tool) for tool in tools):
        return tuple(tools)
    return f"The tool plugin {entry.name!r} gives {type(loaded).__name__}, not a Tool"


def _add(tools: dict[str, Tool], loaded: tuple[Tool, ...], plugin: str) -> list[str]:
    taken = _NAMES | set(tools)
    problems = [
        f"The tool {tool.name!r} of plugin {plugin!r} is left out: the name is taken"
        for tool in loaded
        if tool.name in taken
    ]
    tools.update({tool.name: tool for tool in loaded if tool.name not in taken})
    return problems
