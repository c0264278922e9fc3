"""Lets a widget's messages arrive where the front end sent them, while a cell still blocks."""

from __future__ import annotations

from typing import Any

from ipykernel.comm.comm import BaseComm


def keep_front_end_routing() -> bool:
    """Undo the re-routing of ipykernel 7.4; False where there is nothing to undo.

    There each message goes to the shell the widget was last written from, so a widget made
    in a cell hears nothing until that cell ends: its Stop button would be dead.
    """
    comms: Any = BaseComm
    if not hasattr(comms, "_reply_subshell_for"):
        return False
    comms._reply_subshell_for = _as_sent
    return True


def _as_sent(comm: BaseComm, data: Any, default: Any) -> Any:
    return default
