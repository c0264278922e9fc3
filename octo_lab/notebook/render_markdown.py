"""Untrusted Markdown to harmless HTML."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache
from html import escape
from typing import TYPE_CHECKING, Any, Protocol

from octo_lab.core.text import clean
from octo_lab.notebook.render_code import code_html

if TYPE_CHECKING:
    from markdown_it import MarkdownIt
    from markdown_it.rules_inline import StateInline
    from markdown_it.token import Token

_RICH_LIMIT = 400_000
_FORMULA_LIMIT = 4_000
_TAGS = (
    "p br hr h1 h2 h3 h4 h5 h6 em strong s del code pre span a img blockquote ul ol li"
    " table thead tbody tr th td div"
)
_ATTRIBUTES = {
    "a": {"href", "title"},
    "img": {"src", "alt", "title"},
    "code": {"class"},
    "pre": {"class"},
    "span": {"class"},
    "div": {"class"},
    "ol": {"start"},
    "th": {"style"},
    "td": {"style"},
}


class _Cleaner(Protocol):
    def clean(self, html: str) -> str: ...


def markdown_html(text: str) -> str:
    """HTML that runs nothing, loads nothing from afar and opens links in a new tab.

    LaTeX stays as it is, marked for the front end's typesetter.
    """
    if len(text) > _RICH_LIMIT:
        return f"<pre>{escape(clean(text))}</pre>"
    rendered: str = _parser().render(clean(text))
    return _cleaner().clean(rendered)


@cache
def _cleaner() -> _Cleaner:
    import nh3  # needed only once something is shown

    return nh3.Cleaner(
        tags=set(_TAGS.split()),
        attributes=_ATTRIBUTES,
        attribute_filter=_harmless_attribute,
        filter_style_properties={"text-align"},
        set_tag_attribute_values={"a": {"target": "_blank"}},
        url_schemes={"http", "https", "mailto", "data"},
        url_relative="deny",
        link_rel="noopener noreferrer",
    )


def _harmless_attribute(tag: str, name: str, value: str) -> str | None:
    is_data = value.lstrip().lower().startswith("data:")
    if (tag, name) == ("a", "href"):
        return None if is_data else value
    if (tag, name) == ("img", "src"):
        return value if is_data else None
    return value


@cache
def _parser() -> MarkdownIt:
    from markdown_it import MarkdownIt  # slow to import
    from mdit_py_plugins.dollarmath import dollarmath_plugin

    parser = MarkdownIt("gfm-like", {"html": False, "linkify": False})
    parser.disable("linkify")
    parser.use(dollarmath_plugin, allow_labels=False, allow_space=False, allow_digits=False)
    parser.inline.ruler.before("escape", "tex_brackets", _tex_brackets)
    parser.inline.ruler.before("html_inline", "line_break", _line_break)
    for name, rule in _rules().items():
        parser.add_render_rule(name, rule)
    return parser


def _line_break(state: StateInline, silent: bool) -> bool:
    """``<br>`` is the one tag models need: a line break inside a table cell."""
    for tag in ("<br>", "<br/>", "<br />"):
        if state.src.startswith(tag, state.pos):
            if not silent:
                state.push("hardbreak", "br", 0)
            state.pos += len(tag)
            return True
    return False


def _tex_brackets(state: StateInline, silent: bool) -> bool:
    r"""``\(x\)`` and ``\[x\]``, as models write LaTeX."""
    opening = state.src[state.pos : state.pos + 2]
    closing = {"\\(": "\\)", "\\[": "\\]"}.get(opening)
    limit = min(state.posMax, state.pos + _FORMULA_LIMIT)
    end = state.src.find(closing, state.pos + 2, limit) if closing else -1
    if end < 0:
        return False
    if not silent:
        token = state.push("math_inline" if opening == "\\(" else "math_inline_double", "math", 0)
        token.content = state.src[state.pos + 2 : end]
    state.pos = end + 2
    return True


def _rules() -> dict[str, Callable[..., str]]:
    return {
        "fence": _fence,
        "code_block": _fence,
        "image": _image,
        "math_inline": _math("$", "$"),
        "math_block": _math("$$", "$$", tag="div"),
        "math_inline_double": _math("$$", "$$"),
    }


def _fence(_: object, tokens: Sequence[Token], index: int, *__: Any) -> str:
    token = tokens[index]
    language = token.info.strip().split(maxsplit=1)[0] if token.info.strip() else ""
    return code_html(token.content.rstrip("\n"), language)


def _image(_: object, tokens: Sequence[Token], index: int, *__: Any) -> str:
    """A picture that travels in the text is shown; any other is a link to click."""
    token = tokens[index]
    source, words = str(token.attrGet("src") or ""), escape(token.content)
    if source.startswith("data:"):
        return f'<img src="{escape(source)}" alt="{words}">'
    return f'<a href="{escape(source)}">{words or escape(source)}</a>'


def _math(start: str, end: str, tag: str = "span") -> Callable[..., str]:
    def render(_: object, tokens: Sequence[Token], index: int, *__: Any) -> str:
        formula = escape(tokens[index].content.strip(), quote=False)
        opening = f'<{tag} class="octo-math mathjax_process tex2jax_process">'
        return f"{opening}{start}{formula}{end}</{tag}>"

    return render
