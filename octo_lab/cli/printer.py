"""Prints one turn to a terminal: the answer on stdout, what happens beside it on stderr."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, field
from typing import TextIO

from octo_lab.core.frames import Json, usage_json
from octo_lab.core.mail import OutboundMessage
from octo_lab.core.text import clean, first_line, head_and_tail
from octo_lab.core.turns import NoticeBlock, ToolBlock, TurnSnapshot

_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")

_COLOURS = {"+": "32", "-": "31", "@": "36"}
_DIFF = 6_000


def printable(text: str) -> str:
    """Without control characters: a model's words must not steer the terminal."""
    return _CONTROL.sub("", text)


@dataclass(slots=True, kw_only=True)
class Printer:
    """``stream``: print text as it comes, else at the end. ``quiet``: nothing on the side."""

    out: TextIO
    side: TextIO
    stream: bool = False
    quiet: bool = False
    _printed: str = ""
    _noted: set[str] = field(default_factory=set)

    def show(self, turn: TurnSnapshot) -> None:
        for index, block in enumerate(turn.blocks):
            if isinstance(block, ToolBlock):
                self._note(f"{block.call_id}{block.state}", printable(_tool_line(block)))
                if block.diff:
                    self._note(f"{block.call_id}diff", self._diff(block.diff))
            elif isinstance(block, NoticeBlock):
                self._note(f"{index}", printable(f"· {block.text}"))
        if self.stream:
            self.say(turn.text)

    def say(self, text: str) -> None:
        """Print the answer so far: what has been printed of it is not printed again."""
        if not text.startswith(self._printed):
            self.end()
            self._printed = ""
        new = text[len(self._printed) :]
        self.out.write(printable(new) if self.out.isatty() else clean(new))
        self.out.flush()
        self._printed = text

    def end(self) -> None:
        """Finish the last line."""
        if self._printed and not self._printed.endswith("\n"):
            self.out.write("\n")
        self.out.flush()

    def show_diff(self, diff: str) -> None:
        self._note("diff", self._diff(diff))

    def _diff(self, diff: str) -> str:
        """What a call changed in files, in colours where there are some."""
        lines = head_and_tail(printable(diff).strip("\n"), _DIFF).split("\n")
        if not self.side.isatty():
            return "\n".join(f"  {line}" for line in lines)
        colours = (_COLOURS.get(line[:1], "2") for line in lines)
        return "\n".join(
            f"  \x1b[{colour}m{line}\x1b[0m" for colour, line in zip(colours, lines, strict=True)
        )

    def _note(self, key: str, line: str) -> None:
        if self.quiet or not line or key in self._noted:
            return
        self._noted.add(key)
        if self._printed and not self._printed.endswith("\n") and self.out.isatty():
            self.side.write("\n")
        self.side.write(f"{line}\n")
        self.side.flush()


def _tool_line(block: ToolBlock) -> str:
    match block.state:
        case "running":
            return f"→ {block.name} {first_line(block.arguments, 100)}"
        case "queued" | "asking":
            return ""
        case "ok":
            seconds = f" ({block.seconds:.1f} s)" if block.seconds is not None else ""
            return f"✓ {block.name}{seconds}"
        case _:
            return f"✗ {block.name} {block.state}: {first_line(block.output, 100)}"


def answer_json(heard: TurnSnapshot | OutboundMessage) -> str:
    """The whole answer as one line of JSON."""
    if isinstance(heard, OutboundMessage):
        said: Json = {"text": heard.text, "state": "failed" if heard.failed else "completed"}
        return json.dumps({**said, "hint": heard.hint}, ensure_ascii=False)
    answer: Json = {
        "text": heard.text,
        "state": heard.state,
        "session": heard.session,
        "turn_id": heard.turn_id,
        "model": heard.model,
        "usage": usage_json(heard.usage),
        "cost": heard.usage.dollars,
        "tools": [_tool_json(block) for block in heard.blocks if isinstance(block, ToolBlock)],
        "notices": [block.text for block in heard.blocks if isinstance(block, NoticeBlock)],
    }
    if heard.error is not None:
        answer |= {"error": heard.error.message, "hint": heard.error.hint}
    return json.dumps(answer, ensure_ascii=False)


def _tool_json(block: ToolBlock) -> Json:
    return {"name": block.name, "arguments": block.arguments, "state": block.state}
