"""The AI agent that lives in your Jupyter kernel.

import octo_lab as ol

turn = ol.ask("What is in this folder?")     # blocks; `await ol.ask_async(...)` in a cell
ol.chat()                                    # the chat panel
@ol.tool                                     # a function the agent may call
"""

from importlib import import_module
from typing import Any

__version__ = "0.1.0"

_PLACES = {
    "allow": "octo_lab.notebook.api",
    "ask": "octo_lab.notebook.api",
    "ask_async": "octo_lab.notebook.api",
    "chat": "octo_lab.notebook.api",
    "close": "octo_lab.notebook.api",
    "load_ipython_extension": "octo_lab.notebook.extension",
    "models": "octo_lab.notebook.api",
    "private": "octo_lab.notebook.api",
    "router": "octo_lab.notebook.api",
    "sessions": "octo_lab.notebook.api",
    "status": "octo_lab.notebook.api",
    "tool": "octo_lab.notebook.api",
    "unload_ipython_extension": "octo_lab.notebook.extension",
    "Turn": "octo_lab.notebook.turn",
    "ToolContext": "octo_lab.tools.tool",
    "ToolResult": "octo_lab.tools.tool",
    "OctoError": "octo_lab.core.errors",
}
__all__ = [*_PLACES, "__version__"]


def __getattr__(name: str) -> Any:
    """Import a public name at its first use, so that importing the package costs nothing."""
    if name not in _PLACES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    with import_module("octo_lab.core.imports").installed_ones():
        return getattr(import_module(_PLACES[name]), name)


def __dir__() -> list[str]:
    return sorted(__all__)
