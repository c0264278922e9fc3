"""``octo tools``: the tools, what the policy says of them, and what one of them is."""

from __future__ import annotations

import difflib
import json
import sys
from pathlib import Path

from octo_lab.cli.ask import FAILED
from octo_lab.cli.look import ask_control, refused
from octo_lab.cli.outcome import Outcome
from octo_lab.cli.printer import printable
from octo_lab.core.errors import UsageError
from octo_lab.core.mail import RunCommand
from octo_lab.core.replies import Told
from octo_lab.core.text import first_line
from octo_lab.core.tool_mail import BY_HAND, GetTools, ToolInfo, ToolList
from octo_lab.core.wire import reply_json

_WORDS = {
    "allow": "runs unasked",
    "ask": "asks a person first",
    "deny": "does not run",
    "judge": "its arguments decide: what is harmless runs, the rest asks or is denied",
}


def list_tools(*, as_json: bool, workspace: Path | None) -> Outcome:
    place, reply = ask_control(GetTools(), workspace)
    if not isinstance(reply, ToolList):
        return refused(reply)
    if as_json:
        _write(json.dumps({"answered_by": place, **reply_json(reply)}))
        return Outcome()
    width = max((len(info.name) for info in reply.tools), default=0)
    for info in reply.tools:
        decision = "-" if info.why_not else _decision(info)
        words = info.why_not or first_line(info.description, 80)
        _write(f"{info.name:<{width}}  {decision:<5}  {words}")
    return Outcome()


def show_tool(name: str, *, as_json: bool, workspace: Path | None) -> Outcome:
    _, reply = ask_control(GetTools(), workspace)
    if not isinstance(reply, ToolList):
        return refused(reply)
    info = next((info for info in reply.tools if info.name == name), None)
    if info is None:
        raise UsageError(f"No tool named {name!r}", hint=_near(name, reply))
    if as_json:
        _write(json.dumps(_tool_json(reply, name)))
        return Outcome()
    rows = (
        ("name", info.name),
        ("group", info.group),
        ("risk", info.risk),
        ("source", info.source),
        ("decision", "" if info.why_not else f"{_decision(info)}: {_in_words(info)}"),
        ("not offered", info.why_not),
    )
    for row, value in rows:
        if value:
            _write(f"{row:<11}  {value}")
    _write(f"\n{info.description}\n\n{_arguments(info)}")
    return Outcome()


def take_back(command: str, words: list[str], workspace: Path | None) -> Outcome:
    """``/undo`` or ``/redo`` in the dialog that keeps what calls of persons changed."""
    line = " ".join((f"/{command}", *words))
    _, reply = ask_control(RunCommand(line=line, session=BY_HAND), workspace)
    if not isinstance(reply, Told):
        return refused(reply)
    if not reply.failed:
        _write(reply.text)
        return Outcome()
    if reply.text.startswith(("No session named", "No turn here")):
        return Outcome(code=FAILED, error="No tool that was called here changed a file")
    hint = reply.hint.replace(f"`/{command}", f"`octo tools {command}")
    return Outcome(code=FAILED, error=reply.text, hint="" if "`/" in hint else hint)


def _near(name: str, reply: ToolList) -> str:
    names = [info.name for info in reply.tools]
    near = difflib.get_close_matches(name, names, n=1)
    return f"did you mean {near[0]!r}?" if near else f"known: {', '.join(names)}"


def _decision(info: ToolInfo) -> str:
    """Where the arguments decide, both are possible."""
    return "judge" if info.judged and info.decision == "allow" else info.decision


def _in_words(info: ToolInfo) -> str:
    decision = _decision(info)
    return _WORDS[decision] if decision == "judge" else f"{_WORDS[decision]} ({info.reason})"


def _tool_json(reply: ToolList, name: str) -> object:
    return next(tool for tool in reply_json(reply)["tools"] if tool["name"] == name)


def _arguments(info: ToolInfo) -> str:
    return json.dumps(dict(info.schema), indent=2, ensure_ascii=False)


def _write(line: str) -> None:
    sys.stdout.write(printable(line) + "\n")
