"""The few words and cuts that every rendering of a turn shares."""

from __future__ import annotations

import json
import re
from typing import Any

from octo_lab.core.messages import Usage
from octo_lab.core.money import cost_text
from octo_lab.core.text import first_line, head_and_tail
from octo_lab.core.turns import ToolBlock, ToolState, TurnSnapshot, TurnState

_TERMINAL_CODE = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]|[\x00-\x08\x0b-\x1f\x7f]")
_FILE_NAMES = re.compile(r"^--- .*\n\+\+\+ .*\n(?=@@)", re.MULTILINE)
OUTPUT_LIMIT = 4_000
ARGUMENTS_LIMIT = 8_000
DIFF_LIMIT = 20_000
STATE_SIGNS: dict[ToolState, str] = {
    "queued": "…",
    "asking": "?",
    "running": "▸",
    "ok": "✓",
    "error": "✗",
    "denied": "⊘",
    "cancelled": "■",
}
STATE_WORDS: dict[ToolState, str] = {
    "queued": "waiting",
    "asking": "needs your approval",
    "running": "running",
    "ok": "done",
    "error": "failed",
    "denied": "denied",
    "cancelled": "stopped",
}
ENDINGS: dict[TurnState, str] = {
    "running": "Answering …",
    "cancelled": "Stopped. What had arrived is kept.",
    "interrupted": "Interrupted: the kernel ended before the answer did.",
}


def arguments_of(block: ToolBlock) -> dict[str, Any] | None:
    """The call's arguments, or None when the model sent no JSON object."""
    try:
        value = json.loads(block.arguments or "{}")
    except ValueError:
        return None
    return value if isinstance(value, dict) else None


def code_of(block: ToolBlock) -> tuple[str, str]:
    """What a card shows as the input of a call: the text and its language."""
    arguments = arguments_of(block)
    if arguments is None:
        return block.arguments[:ARGUMENTS_LIMIT], ""
    if isinstance(arguments.get("code"), str):
        return arguments["code"][:ARGUMENTS_LIMIT], "python"
    if not arguments:
        return "", ""
    return json.dumps(arguments, ensure_ascii=False, indent=2)[:ARGUMENTS_LIMIT], "json"


def is_proposal(block: ToolBlock) -> bool:
    """Whether the call offers code to the person, who is to see it all."""
    return block.name == "propose_cell" and block.state in ("running", "ok")


def gist_of(block: ToolBlock) -> str:
    """One line that tells what a call does."""
    arguments = arguments_of(block)
    if arguments is None:
        return first_line(block.arguments)
    if isinstance(arguments.get("code"), str):
        return _code_gist(arguments["code"])
    return first_line(", ".join(f"{name}={_short(value)}" for name, value in arguments.items()))


def _code_gist(code: str) -> str:
    """The first line of code, and how many more there are."""
    more = sum(1 for line in code.split("\n") if line.strip()) - 1
    return f"{first_line(code)} … +{more} line{'s' * (more > 1)}" if more > 0 else first_line(code)


def _short(value: object) -> str:
    return first_line(json.dumps(value, ensure_ascii=False), 60)


def output_of(block: ToolBlock, limit: int = OUTPUT_LIMIT) -> str:
    """The call's output as text: no terminal colours, bounded."""
    return head_and_tail(_TERMINAL_CODE.sub("", block.output).strip("\n"), limit)


def diff_of(block: ToolBlock, limit: int = DIFF_LIMIT) -> str:
    """What the call changed in files: no terminal colours, bounded."""
    return head_and_tail(_TERMINAL_CODE.sub("", block.diff).strip("\n"), limit)


def delta_of(block: ToolBlock) -> str:
    """How many lines came and went; empty for a call that changed no text file."""
    lines = _FILE_NAMES.sub("", block.diff).split("\n")
    came = sum(line.startswith("+") for line in lines)
    went = sum(line.startswith("-") for line in lines)
    return f"+{came} \u2212{went}" if came or went else ""


def state_of(block: ToolBlock) -> str:
    """The state of a call and, once it ran, its time."""
    if block.state not in ("ok", "error") or block.seconds is None:
        return STATE_WORDS[block.state]
    return f"{STATE_WORDS[block.state]}, {seconds_text(block.seconds)}"


def seconds_text(seconds: float) -> str:
    if seconds < 0.1:
        return "<0.1 s"
    if seconds < 60:
        return f"{seconds:.1f} s"
    minutes, rest = divmod(round(seconds), 60)
    return f"{minutes} min {rest} s"


def footer_parts(turn: TurnSnapshot) -> list[str]:
    """Model, tokens, cost and time, as far as they are known."""
    parts = [turn.model, *_usage_parts(turn.usage)]
    if turn.seconds is not None:
        parts.append(seconds_text(turn.seconds))
    return [part for part in parts if part]


def _usage_parts(usage: Usage) -> list[str]:
    if not usage.input_tokens and not usage.output_tokens:
        return []
    tokens = [f"{usage.input_tokens:,} tokens in", f"{usage.output_tokens:,} out"]
    return [*tokens, cost_text(usage)]
