"""A turn as plain text and as Markdown: what is read where HTML is not."""

from __future__ import annotations

import re
from functools import cache
from typing import TYPE_CHECKING

from octo_lab.core.turns import (
    Block,
    ErrorBlock,
    NoticeBlock,
    ReasoningBlock,
    TextBlock,
    ToolBlock,
    TurnSnapshot,
)
from octo_lab.notebook.render_words import (
    ENDINGS,
    STATE_SIGNS,
    STATE_WORDS,
    code_of,
    diff_of,
    footer_parts,
    gist_of,
    is_proposal,
    output_of,
)

if TYPE_CHECKING:
    from markdown_it import MarkdownIt

_PREVIEW = 1_200
_DIFF = 6_000
_IMAGE = re.compile(r"!(?=\[)")
_TAG = re.compile(r"<(?=[A-Za-z/!?])(?!https?://|mailto:)")
_CODE_SPAN = re.compile(r"(`+)(?:(?!`).)(?:.*?[^`])?\1(?!`)")


def turn_plain(turn: TurnSnapshot, *, footer: bool) -> str:
    parts = [block_plain(block) for block in turn.blocks]
    return _joined(turn, parts, footer=footer, note="[{}]", foot="({})")


def turn_markdown(turn: TurnSnapshot, *, footer: bool) -> str:
    """Safe to show anywhere: no raw HTML, no picture is fetched."""
    parts = [_markdown(block) for block in turn.blocks]
    return _joined(turn, parts, footer=footer, note="*{}*", foot="*{}*")


def _joined(turn: TurnSnapshot, parts: list[str], *, footer: bool, note: str, foot: str) -> str:
    ending = ENDINGS.get(turn.state, "")
    parts = [*parts, note.format(ending) if ending else ""]
    if footer and turn.terminal and footer_parts(turn):
        parts.append(foot.format(" · ".join(footer_parts(turn))))
    return "\n\n".join(part for part in parts if part)


def block_plain(block: Block) -> str:
    match block:
        case TextBlock(text):
            return text.strip()
        case ReasoningBlock():
            return ""
        case NoticeBlock(text):
            return f"[{text}]"
        case ErrorBlock(message, hint):
            return f"Error: {message}" + (f"\n  {hint}" if hint else "")
        case ToolBlock():
            return _plain_tool(block)


def _plain_tool(block: ToolBlock) -> str:
    head = f"{STATE_SIGNS[block.state]} {block.name}({gist_of(block)})"
    lines = code_of(block)[0].splitlines() if is_proposal(block) else []
    lines += output_of(block, _PREVIEW).splitlines()
    if block.diff:
        lines += diff_of(block, _DIFF).split("\n")
    pictures = [f"[{media.mime}]" for media in block.media]
    return "\n".join([head, *(f"  {line}" for line in [*lines, *pictures])])


def _markdown(block: Block) -> str:
    match block:
        case TextBlock(text):
            return harmless(text.strip())
        case ReasoningBlock():
            return ""
        case NoticeBlock(text):
            return f"> {harmless(text)}"
        case ErrorBlock(message, hint):
            return f"> **Error:** {harmless(message)}" + (f"  \n> {harmless(hint)}" if hint else "")
        case ToolBlock():
            return _markdown_tool(block)


def _markdown_tool(block: ToolBlock) -> str:
    code, language = code_of(block)
    parts = [f"{STATE_SIGNS[block.state]} **`{block.name}`** {STATE_WORDS[block.state]}"]
    if block.diff:
        parts.append(_fenced(diff_of(block, _DIFF), "diff"))
    elif code:
        parts.append(_fenced(code, language))
    if block.output.strip():
        parts.append(_fenced(output_of(block, _PREVIEW), "text"))
    return "\n\n".join(parts)


def _fenced(text: str, language: str) -> str:
    longest = max((len(run) for run in re.findall(r"`{3,}", text)), default=2)
    fence = "`" * (longest + 1)
    return f"{fence}{language}\n{text}\n{fence}"


def harmless(text: str) -> str:
    """Markdown whose raw tags are shown as text and whose pictures became links."""
    if "<" not in text and "![" not in text:
        return text
    lines = text.split("\n")
    code = _code_lines(text)
    return "\n".join(
        line if number in code else _outside_code(line) for number, line in enumerate(lines)
    )


def _outside_code(line: str) -> str:
    parts, end = [], 0
    for span in _CODE_SPAN.finditer(line):
        parts += [_escaped(line[end : span.start()]), span.group()]
        end = span.end()
    return "".join([*parts, _escaped(line[end:])])


def _escaped(text: str) -> str:
    return _TAG.sub("&lt;", _IMAGE.sub("", text))


def _code_lines(text: str) -> set[int]:
    found: set[int] = set()
    for token in _parser().parse(text):
        if token.type in ("fence", "code_block") and token.map:
            found.update(range(*token.map))
    return found


@cache
def _parser() -> MarkdownIt:
    from markdown_it import MarkdownIt  # slow to import, needed only for odd texts

    return MarkdownIt("commonmark").disable(["html_block", "inline"])
