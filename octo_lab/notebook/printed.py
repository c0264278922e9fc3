"""A turn in a terminal, where nothing can be redrawn: only what is new is printed."""

from __future__ import annotations

import sys

from octo_lab.core.text import clean
from octo_lab.core.turns import Block, TextBlock, ToolBlock, TurnSnapshot
from octo_lab.notebook.render_text import block_plain
from octo_lab.notebook.render_words import ENDINGS, footer_parts

_AT_WORK = ("queued", "asking", "running")


class Printed:
    """Prints text as it arrives, and a tool call when it has ended."""

    connected = False

    def __init__(self) -> None:
        self._block = 0
        self._said = 0

    def update(self, turn: TurnSnapshot) -> None:
        while self._block < len(turn.blocks):
            block = turn.blocks[self._block]
            more = turn.terminal or self._block + 1 < len(turn.blocks)
            if isinstance(block, TextBlock):
                self._print_new(block.text)
            elif _is_at_work(block) and not turn.terminal:
                break
            if not more:
                break
            self._end(block)
        sys.stdout.flush()

    def _print_new(self, text: str) -> None:
        sys.stdout.write(clean(text[self._said :]))
        self._said = len(text)

    def _end(self, block: Block) -> None:
        said = "" if isinstance(block, TextBlock) else block_plain(block)
        if said or self._said:
            sys.stdout.write(f"{clean(said)}\n\n")
        self._block, self._said = self._block + 1, 0

    def finish(self, turn: TurnSnapshot) -> None:
        self.update(turn)
        ending, foot = ENDINGS.get(turn.state, ""), " · ".join(footer_parts(turn))
        lines = [f"[{ending}]" if ending else "", f"({foot})" if foot else ""]
        sys.stdout.write("".join(f"{clean(line)}\n" for line in lines if line))
        sys.stdout.flush()


def _is_at_work(block: Block) -> bool:
    return isinstance(block, ToolBlock) and block.state in _AT_WORK
