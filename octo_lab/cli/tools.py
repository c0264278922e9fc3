"""``octo tools``: the tools, what the policy says of them, and one of them run by hand."""

from __future__ import annotations

import json
import sys
from pathlib import Path

from octo_lab.cli.ask import FAILED
from octo_lab.cli.look import ask_control, refused
from octo_lab.cli.outcome import Outcome
from octo_lab.cli.printer import printable
from octo_lab.core.errors import UsageError
from octo_lab.core.text import first_line
from octo_lab.core.tool_mail import CallTool, GetTools, ToolAnswer, ToolInfo, ToolList
from octo_lab.core.wire import reply_json

_OUTCOMES = {"ok": 0, "error": FAILED, "denied": FAILED, "cancelled": FAILED}


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
        known = ", ".join(info.name for info in reply.tools)
        raise UsageError(f"No tool named {name!r}", hint=f"known: {known}")
    if as_json:
        _write(json.dumps(_tool_json(reply, name)))
        return Outcome()
    rows = (
        ("name", info.name),
        ("group", info.group),
        ("risk", info.risk),
        ("source", info.source),
        ("decision", f"{_decision(info)}: {info.reason}"),
        ("not offered", info.why_not),
    )
    for row, value in rows:
        if value:
            _write(f"{row:<11}  {value}")
    _write(f"\n{info.description}\n\n{_arguments(info)}")
    return Outcome()


def call_tool(wanted: CallTool, *, as_json: bool, workspace: Path | None) -> Outcome:
    _, reply = ask_control(_read(wanted), workspace)
    if not isinstance(reply, ToolAnswer):
        return refused(reply)
    if wanted.dry:
        _write(json.dumps({"decision": reply.decision, "reason": reply.reason}))
        return Outcome()
    if as_json:
        _write(json.dumps(reply_json(reply)))
    if not reply.state:
        hint = "allow it with --yes" if reply.decision == "ask" else ""
        word = "would be asked about" if reply.decision == "ask" else "was denied"
        return Outcome(code=FAILED, error=f"{reply.name!r} {word}: {reply.reason}", hint=hint)
    if not as_json:
        _write(reply.text)
        for mime in reply.media:
            _write(f"[{mime}]")
    return Outcome(code=_OUTCOMES[reply.state])


def _decision(info: ToolInfo) -> str:
    """Where the arguments decide, both are possible."""
    return "judge" if info.judged and info.decision == "allow" else info.decision


def _read(wanted: CallTool) -> CallTool:
    """Refuse what is no JSON object before anything is started."""
    try:
        value = json.loads(wanted.arguments or "{}")
    except ValueError as exc:
        raise UsageError(f"The arguments are no JSON: {exc}", hint="write '{\"key\": 1}'") from None
    if not isinstance(value, dict):
        raise UsageError("The arguments are no JSON object", hint="write '{\"key\": 1}'")
    return wanted


def _tool_json(reply: ToolList, name: str) -> object:
    return next(tool for tool in reply_json(reply)["tools"] if tool["name"] == name)


def _arguments(info: ToolInfo) -> str:
    return json.dumps(dict(info.schema), indent=2, ensure_ascii=False)


def _write(line: str) -> None:
    sys.stdout.write(printable(line) + "\n")
