"""Source text as highlighted HTML with Pygments' short class names."""

from __future__ import annotations

from html import escape

_HIGHLIGHT_LIMIT = 60_000


def code_html(text: str, language: str) -> str:
    """A ``<pre>`` block; a language that is not known leaves the text plain."""
    return f'<pre class="octo-code"><code>{_highlighted(text, language)}</code></pre>\n'


def _highlighted(text: str, language: str) -> str:
    if not language or len(text) > _HIGHLIGHT_LIMIT:
        return escape(text, quote=False)
    from pygments import highlight  # slow to import, needed only for code
    from pygments.formatters import HtmlFormatter
    from pygments.lexers import get_lexer_by_name
    from pygments.util import ClassNotFound

    try:
        lexer = get_lexer_by_name(language, stripnl=False, ensurenl=False)
    except ClassNotFound:
        return escape(text, quote=False)
    return highlight(text, lexer, HtmlFormatter(nowrap=True))
