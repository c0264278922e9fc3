"""Makes small, shallow, honest HTML of any: what a person sees, and nothing that runs or hides."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from html import escape, unescape

from octo_lab.tools.web.html_tokens import Close, Open, Text, tokens

MAX_ELEMENTS = 50_000
MAX_TEXT = 1_000_000
MAX_DEPTH = 60
MAX_STYLES = 6
MAX_URL = 2_000

_BLOCKS = frozenset(
    {"article", "aside", "blockquote", "details", "div", "dl", "figure", "footer", "header"}
    | {"main", "nav", "ol", "pre", "section", "summary", "table", "ul", "figcaption", "caption"}
    | {"h1", "h2", "h3", "h4", "h5", "h6", "address"}
)
_STYLES = frozenset(
    {"a", "abbr", "b", "cite", "code", "del", "em", "i", "ins", "kbd", "mark", "q", "s", "samp"}
    | {"small", "strong", "sub", "sup", "u", "var"}
)
# Elements that the next of their kind ends: pages leave out their end tags.
_ENDED = {
    **dict.fromkeys(("li",), frozenset({"li"})),
    **dict.fromkeys(("dt", "dd"), frozenset({"dt", "dd"})),
    **dict.fromkeys(("td", "th"), frozenset({"td", "th", "tr", "tbody", "thead", "tfoot"})),
    **dict.fromkeys(("tr",), frozenset({"tr", "tbody", "thead", "tfoot"})),
    **dict.fromkeys(("tbody", "thead", "tfoot"), frozenset({"tbody", "thead", "tfoot"})),
    **dict.fromkeys(("option",), frozenset({"option", "optgroup"})),
    "p": frozenset({"p", *_BLOCKS}),
}
_SINGLE = frozenset({"br", "hr", "img", "wbr"})
_VOID = frozenset(
    {"area", "base", "col", "embed", "input", "link", "meta", "param", "source", "track", *_SINGLE}
)
_KEPT = frozenset({*_BLOCKS, *_STYLES, *_SINGLE, *_ENDED}) - {"option"}
_DROPPED = frozenset(
    {"applet", "audio", "button", "canvas", "dialog", "datalist", "frameset", "head", "iframe"}
    | {"math", "noembed", "noframes", "noscript", "object", "script", "select", "style", "svg"}
    | {"template", "textarea", "title", "video"}
)
_HEAD_OVER = frozenset({"body", *_BLOCKS, "p"})
_UNSEEN = re.compile(
    r"display:none|visibility:(?:hidden|collapse)|content-visibility:hidden"
    r"|opacity:0*\.?0*(?:%|;|!|$)|font-size:0*\.?0*(?:px|em|rem|pt|%)?(?:;|!|$)"
    r"|(?:text-indent|left|top|right|bottom|margin-left|margin-top):-\d{4,}"
    r"|clip(?:-path)?:(?:rect\(0|inset\((?:50|100)%)|transform:scale\(0\)"
)
_NO_STYLE = re.compile(r"/\*.*?\*/|\s+|\\", re.DOTALL)
_NUMBER = re.compile(r"[0-9]{1,6}")
_LANGUAGE = re.compile(r"(?:language|lang|highlight-source)-[\w+#.-]{1,30}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Tidied:
    """``cut``: there was more than is made readable."""

    html: str
    title: str
    cut: bool


def tidy(html: str) -> Tidied:
    """Raises nothing; the time is linear in the length of the page."""
    page = _Page()
    for token in tokens(html):
        if page.full:
            break
        match token:
            case Text():
                page.text(token)
            case Open():
                page.open(token)
            case Close():
                page.close(token.name)
    return page.done()


@dataclass(slots=True)
class _Hidden:
    """An element that is left out with all in it, and what is open inside."""

    name: str
    inside: Counter[str] = field(default_factory=Counter)


class _Page:
    """What was kept, the elements that are open, and the one that is being left out."""

    def __init__(self) -> None:
        self._out: list[str] = []
        self._title: list[str] = []
        self._stack: list[str] = []
        self._hidden: _Hidden | None = None
        self._elements = 0
        self._length = 0

    @property
    def full(self) -> bool:
        return self._elements >= MAX_ELEMENTS or self._length >= MAX_TEXT

    def done(self) -> Tidied:
        cut = self.full
        self._out += [f"</{name}>" for name in reversed(self._stack)]
        title = " ".join("".join(self._title).split())[:500]
        return Tidied(html="".join(self._out), title=title, cut=cut)

    def text(self, token: Text) -> None:
        if token.raw == "title" and not self._title:
            self._title.append(token.text[:2000])
        if not token.raw and self._hidden is None:
            self._write(_escaped(token.text[: MAX_TEXT - self._length]))
            self._length += len(token.text)

    def open(self, tag: Open) -> None:
        if self._hidden is not None and not self._shows_again(tag):
            return
        if tag.name in _DROPPED or _is_hidden(tag.attributes):
            if tag.name not in _VOID:
                self._hidden = _Hidden(tag.name)
        elif tag.name in _KEPT:
            self._keep(tag)

    def close(self, name: str) -> None:
        hidden = self._hidden
        if hidden is None:
            self._pop(name)
        elif hidden.inside[name]:
            hidden.inside[name] -= 1
        elif name == hidden.name:
            self._hidden = None
        elif name in self._stack:
            self._hidden = None
            self._pop(name)

    def _shows_again(self, tag: Open) -> bool:
        """Whether the start tag ends the element that is left out."""
        hidden = self._hidden
        assert hidden is not None
        if hidden.name == "head":
            over = tag.name in _HEAD_OVER
        else:
            over = tag.name in _ENDED.get(hidden.name, ()) and not hidden.inside.total()
        if over:
            self._hidden = None
        elif tag.name not in _VOID:
            hidden.inside[tag.name] += 1
        return over

    def _keep(self, tag: Open) -> None:
        self._elements += 1
        if tag.name in _SINGLE:
            self._write(_written(tag))
        elif tag.name in _ENDED:
            self._end_former(tag.name)
            self._push(tag)
        elif tag.name in _STYLES and self._styles() >= MAX_STYLES:
            return
        else:
            self._end_former(tag.name)
            self._push(tag)

    def _push(self, tag: Open) -> None:
        if len(self._stack) < MAX_DEPTH:
            self._stack.append(tag.name)
            self._write(_written(tag))

    def _end_former(self, name: str) -> None:
        """Close the elements that a start tag of ``name`` ends, up to the block they are in."""
        ended = len(self._stack)
        for place in range(len(self._stack) - 1, -1, -1):
            open_one = self._stack[place]
            if name in _ENDED.get(open_one, ()):
                ended = place
            if open_one in _BLOCKS:
                break
        self._close_down_to(ended)

    def _styles(self) -> int:
        return sum(name in _STYLES for name in self._stack)

    def _pop(self, name: str) -> None:
        if name in self._stack:
            self._close_down_to(len(self._stack) - 1 - self._stack[::-1].index(name))

    def _close_down_to(self, place: int) -> None:
        self._out += [f"</{name}>" for name in reversed(self._stack[place:])]
        del self._stack[place:]

    def _write(self, text: str) -> None:
        self._out.append(text)


def _is_hidden(attributes: Mapping[str, str]) -> bool:
    if "hidden" in attributes or attributes.get("aria-hidden", "").strip().lower() == "true":
        return True
    style = attributes.get("style", "")
    if not style:
        return False
    plain = _NO_STYLE.sub("", unescape(style[:2000]).lower())
    return bool(_UNSEEN.search(plain))


def _written(tag: Open) -> str:
    kept = "".join(f' {name}="{escape(value)}"' for name, value in _attributes(tag))
    return f"<{tag.name}{kept}>"


def _attributes(tag: Open) -> Iterator[tuple[str, str]]:
    given = tag.attributes
    match tag.name:
        case "a" if link := _link(given.get("href", "")):
            yield "href", link
        case "img" if link := _link(given.get("src", "")):
            yield "src", link
            yield "alt", unescape(given.get("alt", "")[:500])
        case "ol" if _NUMBER.fullmatch(given.get("start", "")):
            yield "start", given["start"]
        case "pre" | "code":
            if language := _LANGUAGE.search(given.get("class", "")[:500]):
                yield "class", language[0]


def _link(url: str) -> str:
    """The URL in one piece; empty if it leads nowhere, as scripts and data do."""
    if len(url) > MAX_URL:
        return ""
    plain = re.sub(r"[\x00-\x20]+", "", unescape(url))
    return "" if plain.lower().startswith(("javascript:", "data:", "vbscript:")) else plain


def _escaped(text: str) -> str:
    return text.replace("<", "&lt;").replace(">", "&gt;")
