from __future__ import annotations

from html.parser import HTMLParser

import pytest
from hypothesis import given
from hypothesis import strategies as st

from octo_lab.notebook.render_markdown import markdown_html

HARMFUL = [
    "<script>alert(1)</script>",
    "<img src=x onerror=alert(1)>",
    "<iframe src='https://far.example'></iframe>",
    "<style>body{display:none}</style>",
    "<a href='javascript:alert(1)' onclick='x()'>x</a>",
    "[x](javascript:alert(1))",
    "[x](JaVaScRiPt:alert(1))",
    "[x](data:text/html;base64,PHNjcmlwdD4=)",
    "[x](vbscript:x)",
    "[x](/logout)",
    "[x](//far.example/x)",
    "![x](https://far.example/x.png)",
    "![x](http://127.0.0.1/x.png)",
    '![x](https://far.example/x.png "onload=x")',
    "![x](data:image/svg+xml;base64,PHN2Zy8+)",
    "```html onload=x\n<script>x</script>\n```",
    "$</span><script>alert(1)</script>$",
    "\\[ <img src=x onerror=alert(1)> \\]",
    "[a]: https://far.example\n\n![a]",
    "| <b onclick=x> |\n|---|\n| <svg/onload=x> |",
]
ALLOWED = {
    "a": {"href", "title", "target", "rel"},
    "img": {"src", "alt", "title"},
    "th": {"style"},
    "td": {"style"},
    "ol": {"start"},
    **{tag: {"class"} for tag in ("code", "pre", "span", "div")},
}


class Audit(HTMLParser):
    """Collects what a page would run or load."""

    def __init__(self) -> None:
        super().__init__()
        self.bad: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag in ("script", "iframe", "style", "svg", "object", "form", "link", "base", "meta"):
            self.bad.append(tag)
        for name, value in attrs:
            if name not in ALLOWED.get(tag, set()):
                self.bad.append(f"{tag} {name}")
            if name == "src" and not (value or "").startswith("data:image/"):
                self.bad.append(f"{tag} loads {value}")
            if name == "href" and not (value or "").startswith(("http:", "https:", "mailto:")):
                self.bad.append(f"{tag} goes to {value}")


def audit(text: str) -> list[str]:
    reader = Audit()
    reader.feed(markdown_html(text))
    return reader.bad


@pytest.mark.parametrize("text", HARMFUL)
def test_model_text_runs_nothing_and_loads_nothing(text: str) -> None:
    assert audit(text) == []


@given(st.lists(st.sampled_from([*HARMFUL, "\n", "`", "*", "[", "](", "<", "$", "|", "text "])))
def test_no_mixture_of_them_does_either(parts: list[str]) -> None:
    assert audit("".join(parts)) == []


def test_links_open_in_a_new_tab_that_cannot_reach_back() -> None:
    assert markdown_html("[a](https://a.example/b_c)") == (
        '<p><a href="https://a.example/b_c" target="_blank" rel="noopener noreferrer">a</a></p>\n'
    )


def test_a_remote_picture_is_a_link_and_one_in_the_text_is_shown() -> None:
    html = markdown_html("![cat](https://far.example/c.png) ![dot](data:image/png;base64,AAAA)")
    assert ">cat</a>" in html
    assert '<img src="data:image/png;base64,AAAA" alt="dot">' in html


def test_tables_keep_their_alignment_and_line_breaks() -> None:
    html = markdown_html("| a | b |\n|:-:|--:|\n| 1<br>2 | 3 |")
    assert '<th style="text-align:center">a</th>' in html
    assert '<td style="text-align:right">3</td>' in html
    assert "1<br>" in html


@pytest.mark.parametrize(
    ("text", "kept"),
    [
        ("$a_1^2$", "$a_1^2$"),
        ("\\(a_1\\)", "$a_1$"),
        ("\\[\\frac{a}{b}\\]", "$$\\frac{a}{b}$$"),
        ("$$\nx < y\n$$", "$$x &lt; y$$"),
    ],
)
def test_latex_is_left_for_the_front_end(text: str, kept: str) -> None:
    assert f'class="octo-math mathjax_process tex2jax_process">{kept}<' in markdown_html(text)


def test_prices_are_no_formulas() -> None:
    assert markdown_html("It costs $5, not $10.") == "<p>It costs $5, not $10.</p>\n"


def test_code_is_highlighted_where_the_language_is_known() -> None:
    assert '<span class="k">def</span>' in markdown_html("```python\ndef f(): ...\n```")
    assert markdown_html("```nolang\n<b>\n```") == (
        '<pre class="octo-code"><code>&lt;b&gt;</code></pre>\n'
    )


def test_an_endless_text_is_shown_without_markup() -> None:
    html = markdown_html("<b>" * 200_000)
    assert html.startswith("<pre>&lt;b&gt;")
