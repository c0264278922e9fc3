"""What fills the model's window: a bar with a part for each layer."""

from __future__ import annotations

from html import escape

from octo_lab.core.replies import Status
from octo_lab.core.words import layer_rows

_WIDTH, _HEIGHT = 560, 14
_COLOURS = {
    "base": "#5c6bc0",
    "persona": "#ab47bc",
    "user": "#ec407a",
    "memory": "#26a69a",
    "skills": "#9ccc65",
    "project": "#ffa726",
    "tools": "#8d6e63",
    "summary": "#78909c",
    "conversation": "#29b6f6",
}


def context_bar(status: Status) -> str:
    """As HTML; ``''`` where nothing is known of the window."""
    if not status.context_window or not status.layers:
        return ""
    whole = max(status.context_window, status.context_tokens)
    parts, at = [], 0.0
    for layer in status.layers:
        width = _WIDTH * layer.tokens / whole
        colour = _COLOURS.get(layer.name, "currentColor")
        title = f"{escape(layer.name)}: {layer.tokens:,} tokens"
        parts.append(
            f'<rect x="{at:.1f}" width="{max(width, 1):.1f}" height="{_HEIGHT}"'
            f' style="fill:{colour}"><title>{title}</title></rect>'
        )
        at += width
    legend = "".join(
        f'<span style="white-space:nowrap;margin-right:1em"><span style="color:'
        f'{_COLOURS.get(name, "currentColor")}">■</span> {escape(name)} {tokens} ({share})</span>'
        for name, tokens, share in layer_rows(status)
    )
    return (
        f'<svg role="img" aria-label="What fills the context window" width="{_WIDTH}"'
        f' height="{_HEIGHT}" viewBox="0 0 {_WIDTH} {_HEIGHT}" preserveAspectRatio="none"'
        f' style="max-width:100%;border-radius:4px;background:rgba(128,128,128,.25)">'
        f'{"".join(parts)}</svg><div style="font-size:.9em;opacity:.85">{legend}</div>'
    )
