"""The content blocks of one answer while they grow, and what they are at its end."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

from octo_lab.core.errors import Unavailable
from octo_lab.core.ids import new_id
from octo_lab.core.messages import ToolCall
from octo_lab.llm.tool_calls import MAX_ARGUMENTS, MAX_CALLS, is_object
from octo_lab.llm.wires.anthropic.state import THINKING, pack

Json = Mapping[str, Any]
MAX_BLOCKS = 2_048
_REPLACED = "\ufffd"  # stands for bytes or characters that could not be read


class Block:
    """A block; ``start`` is what it began as, ``parts`` are pieces of thinking or of an input,
    ``size`` is the length of a text.
    """

    __slots__ = ("closed", "kind", "parts", "signature", "size", "start")

    def __init__(self, kind: str, start: Json) -> None:
        self.kind = kind
        self.start = start
        self.parts: list[str] = []
        self.size = 0
        self.signature = ""
        self.closed = False

    @property
    def name(self) -> str:
        """The tool of a call."""
        return str(self.start.get("name") or "") if self.kind == "tool_use" else ""

    def arguments(self) -> str:
        """The input as it was streamed, or as it was given whole."""
        text = "".join(self.parts)
        if text.strip():
            return text
        given = self.start.get("input")
        return json.dumps(given, ensure_ascii=False) if given else "{}"

    def thought(self) -> dict[str, Any]:
        """A thinking block as it came, its pieces joined."""
        thought = dict(self.start)
        if self.kind == "thinking":
            thought["thinking"] = "".join(self.parts)
            if self.signature or "signature" in thought:
                thought["signature"] = self.signature
        return thought


class Blocks:
    """All blocks in the order they began; a server's index means the one that is open there."""

    def __init__(self) -> None:
        self._all: list[Block] = []
        self._open: dict[object, Block] = {}
        self._size = 0

    def open(self, index: object, kind: str, start: Json) -> Block:
        if len(self._all) >= MAX_BLOCKS:
            raise Unavailable(f"The answer has more than {MAX_BLOCKS} parts")
        block = Block(kind, start)
        self._all.append(block)
        self._open[index] = block
        return block

    def at(self, index: object, kind: str) -> Block:
        """The block that grows; some hosts do not say that one begins."""
        block = self._open.get(index)
        return block if block is not None else self.open(index, kind, {"type": kind})

    def close(self, index: object) -> None:
        block = self._open.pop(index, None)
        if block is not None:
            block.closed = True

    def keep(self, block: Block, text: object) -> None:
        """Remember a piece; raises Unavailable when too much is kept, TypeError for no text."""
        if not isinstance(text, str):
            raise TypeError(f"{text!r} is no text")
        block.parts.append(text)
        self._size += len(text)
        if self._size > MAX_ARGUMENTS:
            raise Unavailable("The thinking and tool calls of the answer are too long")

    def calls(self, names: Mapping[str, str], answer: str, *, cut: bool) -> dict[int, ToolCall]:
        """The calls by the place of their blocks; one that is not whole never was a call.

        ``names`` are true names of tools, ``answer`` is no tool but the answer, ``cut``: the
        server stopped for want of tokens. Ids are made unique and not blank.
        """
        calls: dict[int, ToolCall] = {}
        seen: set[str] = set()
        for place, block in enumerate(self._all):
            if block.kind != "tool_use" or (answer and block.name == answer):
                continue
            arguments = block.arguments()
            if (cut or not block.closed) and not is_object(arguments):
                continue
            if len(calls) >= MAX_CALLS:
                raise Unavailable(f"The model made more than {MAX_CALLS} tool calls at once")
            id = str(block.start.get("id") or "")
            id = id if id.strip() and id not in seen else f"toolu_{new_id()}"
            seen.add(id)
            name = names.get(block.name, block.name)
            calls[place] = ToolCall(id=id, name=name, arguments=arguments)
        return calls

    def inputs(self, tool: str) -> Iterator[str]:
        """What the tool was called with."""
        return (block.arguments() for block in self._all if block.name == tool)

    def texts(self) -> str:
        """All text that was kept."""
        return "".join(part for block in self._all if block.kind == "text" for part in block.parts)

    def state(self, calls: Mapping[int, ToolCall]) -> str:
        """Thinking with its place among texts and calls, as a blob; '' where there was none, or
        where it could not be read to the letter.
        """
        if not any(block.kind in THINKING for block in self._all):
            return ""
        order: list[dict[str, Any] | int | None] = []
        for place, block in enumerate(self._all):
            if block.kind in THINKING:
                order.append(block.thought())
            elif block.kind == "text" and block.size:
                order.append(block.size)
            elif place in calls:
                order.append(None)
        blob = pack(order)
        return "" if _REPLACED in blob else blob
