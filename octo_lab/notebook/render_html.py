"""A turn as HTML that stands on its own: readable with its style sheet stripped."""

from __future__ import annotations

import base64
import re
from functools import cache
from html import escape
from pathlib import Path

from octo_lab.core.messages import Media
from octo_lab.core.turns import (
    Block,
    ErrorBlock,
    NoticeBlock,
    ReasoningBlock,
    TextBlock,
    ToolBlock,
    TurnSnapshot,
)
from octo_lab.notebook.render_code import code_html
from octo_lab.notebook.render_markdown import markdown_html
from octo_lab.notebook.render_words import (
    ENDINGS,
    STATE_SIGNS,
    code_of,
    delta_of,
    diff_of,
    footer_parts,
    gist_of,
    is_proposal,
    output_of,
    state_of,
)

_PICTURES = frozenset({"image/png", "image/jpeg", "image/gif", "image/webp", "image/svg+xml"})
_PICTURE_LIMIT = 4_000_000
_CODE = re.compile(r"`([^`\n]+)`")
_ROOT = '<div class="octo mathjax_ignore tex2jax_ignore">'


def turn_html(turn: TurnSnapshot, *, footer: bool) -> str:
    return page_html(_body(turn, footer=footer))


def turns_html(title: str, turns: tuple[TurnSnapshot, ...]) -> str:
    """A whole conversation: each prompt, then its answer."""
    parts = [
        f'<div class="octo-ask">{markdown_html(turn.prompt)}</div>{_body(turn, footer=False)}'
        for turn in turns
    ]
    return page_html(f"<h4>{escape(title)}</h4>{''.join(parts)}")


def page_html(body: str) -> str:
    """Something of ours with its style, where no formula is looked for."""
    return f"<style>{_sheet(with_code='octo-code' in body)}</style>{_ROOT}{body}</div>"


def _body(turn: TurnSnapshot, *, footer: bool) -> str:
    parts = [_block(block) for block in turn.blocks]
    if turn.state in ENDINGS:
        parts.append(_line("notice", ENDINGS[turn.state]))
    if footer and turn.terminal and footer_parts(turn):
        parts.append(_line("foot", " · ".join(footer_parts(turn))))
    return "".join(parts)


def _line(kind: str, text: str) -> str:
    return f'<div class="octo-{kind}">{escape(text)}</div>'


def _coded(text: str) -> str:
    """A line of ours, in which what stands between backticks is code."""
    return _CODE.sub(r"<code>\1</code>", escape(text))


def _block(block: Block) -> str:
    match block:
        case TextBlock(text):
            return f'<div class="octo-md">{markdown_html(text)}</div>' if text.strip() else ""
        case ReasoningBlock(text):
            return _thought(text)
        case NoticeBlock(text):
            return f'<div class="octo-notice">{_coded(text)}</div>'
        case ErrorBlock(message, hint):
            return _error(message, hint)
        case ToolBlock():
            return _tool(block)


def _thought(text: str) -> str:
    if not text.strip():
        return ""
    inner = f'<div class="octo-md">{markdown_html(text)}</div>'
    return f'<details class="octo-think"><summary>Thoughts</summary>{inner}</details>'


def _error(message: str, hint: str) -> str:
    step = f"<div>{_coded(hint)}</div>" if hint else ""
    return f'<div class="octo-error" role="alert"><strong>{escape(message)}</strong>{step}</div>'


def _tool(block: ToolBlock) -> str:
    pictures = "".join(_picture(media) for media in block.media)
    is_open = block.diff or is_proposal(block)
    parts = [
        f'<details class="octo-tool octo-{block.state}"{" open" if is_open else ""}>'
        f"<summary>{_summary(block)}</summary>",
        f'<div class="octo-card">{_input(block)}{_output(block)}</div></details>',
        f'<div class="octo-pictures">{pictures}</div>' if pictures else "",
    ]
    return "".join(parts)


def _summary(block: ToolBlock) -> str:
    gist = gist_of(block)
    return " ".join(
        [
            f'<span class="octo-sign">{STATE_SIGNS[block.state]}</span>',
            f"<strong>{escape(block.name)}</strong>",
            f'<code class="octo-gist">{escape(gist)}</code>' if gist else "",
            f'<span class="octo-delta">{delta}</span>' if (delta := delta_of(block)) else "",
            f'<span class="octo-state">{escape(state_of(block))}</span>',
        ]
    )


def _input(block: ToolBlock) -> str:
    """What the call was given; of a change what it came to."""
    if block.diff:
        return code_html(diff_of(block), "diff")
    code, language = code_of(block)
    return code_html(code, language) if code else ""


def _output(block: ToolBlock) -> str:
    output = output_of(block)
    return f'<pre class="octo-out">{escape(output, quote=False)}</pre>' if output else ""


def _picture(media: Media) -> str:
    if media.mime not in _PICTURES or len(media.data) > _PICTURE_LIMIT:
        return _line("notice", f"{media.mime}, {len(media.data):,} bytes, is not shown here")
    data = base64.b64encode(media.data).decode()
    return f'<img src="data:{media.mime};base64,{data}" alt="{escape(media.name or "picture")}">'


@cache
def _sheet(*, with_code: bool) -> str:
    """The style sheet, small enough to go with every output."""
    sheet = Path(__file__).with_name("turn.css").read_text(encoding="utf-8")
    basic, _, code = sheet.partition("/* highlighting")
    rules = re.sub(r"/\*.*?\*/", "", basic + f"/*{code}" * with_code, flags=re.DOTALL)
    return re.sub(r"\s*([{};,])\s*", r"\1", re.sub(r"\s+", " ", rules)).strip()
