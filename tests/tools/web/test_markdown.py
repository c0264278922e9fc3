from __future__ import annotations

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from octo_lab.tools.web.html_tokens import MAX_ATTRIBUTES, Close, Open, Text, tokens
from octo_lab.tools.web.markdown import convert
from octo_lab.tools.web.tidy import MAX_DEPTH, MAX_ELEMENTS, MAX_TEXT, tidy


def markdown(html: str) -> str:
    return convert(html, "markdown", "http://base.example/d/").text


@pytest.mark.parametrize(
    ("html", "expected"),
    [
        ("<h1>A</h1><p>b <b>c</b> <i>d</i>", "# A\n\nb **c** *d*"),
        ("<ul><li>one<li>two<ul><li>deep</ul><li>three</ul>", "- one\n- two\n  - deep\n- three"),
        ("<ol start=3><li>x<li>y</ol>", "3. x\n4. y"),
        ("<a href='/x?a=1&amp;b=2'>l</a>", "[l](http://base.example/x?a=1&b=2)"),
        ("<a href='javascript:x()'>l</a>", "l"),
        ("<a href='java&#115;cript:x()'>l</a>", "l"),
        ("<img src=p.png alt=pic>", "![pic](http://base.example/d/p.png)"),
        ("<img src='data:image/png;base64,AAAA' alt=pic>", ""),
        (
            '<pre><code class="hl language-python">if a &lt; b:\n    c</code></pre>',
            "```python\nif a < b:\n    c\n```",
        ),
        ("<table><tr><th>a<th>b<tr><td>1<td>2</table>", "| a | b |\n| --- | --- |\n| 1 | 2 |"),
        ("<blockquote>q<p>r</blockquote>", "> q\n>\n> r"),
        ("<nav><a href=/>home</a></nav>x", "[home](http://base.example/)\n\nx"),
        ("1 < 2 && 3 > 2 <", "1 < 2 && 3 > 2 <"),
        ("<p>a<p>b<div>c", "a\n\nb\n\nc"),
        ("no markup", "no markup"),
        ("", ""),
    ],
)
def test_markup_becomes_markdown(html: str, expected: str) -> None:
    assert markdown(html) == expected


def test_as_text_there_is_no_markup() -> None:
    html = "<h1>A</h1><p>b <b>c</b> <a href=x>l</a><ul><li>one</ul>"
    assert convert(html, "text").text == "A\n\nb c l\n\n- one"


def test_the_title_is_told_apart() -> None:
    page = convert("<title> A &amp;\n B&#39;s </title><svg><title>no</title></svg>x", "text")
    assert (page.title, page.text) == ("A & B's", "x")


HIDDEN = (
    "<script>{}</script>",
    "<SCRIPT type='x'>if (a<b) {}</SCRIPT >",
    "<style>{}</style>",
    "<!-- {} -->",
    "<!--{}",
    "<! {} >",
    "<template><p>{}</p></template>",
    "<noscript>{}</noscript>",
    "<iframe>{}</iframe>",
    "<svg><text>{}</text></svg>",
    "<head><meta>{}</head>",
    "<textarea>{}</textarea>",
    "<select><option>{}</select>",
    "<object>{}</object>",
    "<div hidden>{}</div>",
    "<div hidden><div>a</div>{}</div>",
    "<div HIDDEN=''><p>{}<p></div>",
    "<div aria-hidden=true>{}</div>",
    "<span style='display:none'>{}</span>",
    "<span style='color:red; DISPLAY : none !important'>{}</span>",
    "<span style='display:/**/none'>{}</span>",
    "<span style='display&colon;none'>{}</span>",
    "<span style='visibility: hidden'>{}</span>",
    "<span style='opacity:0'>{}</span>",
    "<span style='font-size:0px;'>{}</span>",
    "<span style='position:absolute;left:-9999px'>{}</span>",
    "<p hidden>{}",
    "<p hidden><b>{}</b>",
    "<ul><li hidden>{}<ul><li>{}</ul></ul>",
    "<table><tr hidden><td>{}<td>{}</table>",
    "<details><summary hidden>{}</summary></details>",
    "<input value='{}'>",
    "<p title='{}'></p>",
    "<a href='javascript:{}'></a>",
    "<dialog>{}</dialog>",
)


@pytest.mark.parametrize("hidden", HIDDEN)
def test_what_no_person_sees_is_left_out_and_what_follows_is_kept(hidden: str) -> None:
    text = markdown(f"<div>before {hidden.replace('{}', 'SECRET')}</div><p>after</p>")

    assert "SECRET" not in text
    if not hidden.startswith("<!--{}"):
        assert text.split() == ["before", "after"]


MARKUP = st.sampled_from(
    [
        *(
            "<p>",
            "</p>",
            "<div>",
            "</div>",
            "<b>",
            "</b>",
            "<li>",
            "<ul>",
            "</ul>",
            "<table>",
            "<td>",
        ),
        *(
            "</table>",
            "<tr>",
            "<a href='x'>",
            "</a>",
            "<br>",
            "<pre>",
            "<code>",
            "</pre>",
            "<!--x-->",
        ),
        *(
            "<h1>",
            "</h1>",
            "<blockquote>",
            "<ol>",
            "</body>",
            "<svg>",
            "</svg>",
            "<",
            "</",
            "'",
            '"',
        ),
        *(
            "&amp;",
            "&#1114112;",
            "&#x0;",
            "\x00",
            "\ud800",
            "<title>",
            "<![CDATA[",
            "<p/",
            "<p a=",
            ">",
        ),
    ]
)
PIECES = st.lists(MARKUP | st.text(max_size=10), max_size=30).map("".join)


@given(PIECES, st.sampled_from(HIDDEN), PIECES)
@settings(max_examples=300)
@example("<p title='", "<p>SECRET", "")
@example("<p a=", "<div HIDDEN=''><p>{}<p></div>", "")
def test_hidden_text_is_never_shown_whatever_stands_around_it(
    before: str, hidden: str, after: str
) -> None:
    # What stands before must not swallow the start of the hidden element; the x ends no value, and
    # keeps the quotes from beginning one.
    page = f"{before}x'\">-->]]></title></p>{hidden.replace('{}', 'SECRET')}{after}"

    if "SECRET" in hidden or page.count("<!--") > before.count("<!--x-->") + 1:
        return
    assert "SECRET" not in tidy(page).html


@given(PIECES, st.sampled_from(["markdown", "text"]))
@settings(max_examples=300)
def test_whatever_the_page_it_is_converted(html: str, mode: str) -> None:
    page = convert(html, "text" if mode == "text" else "markdown", "http://base.example/")

    assert len(page.text) <= 40 * len(html) + 100


@given(PIECES)
@example("<tr><td><tr>")
def test_a_tidied_page_is_closed_and_tidying_it_again_changes_nothing(html: str) -> None:
    once = tidy(html)
    stack: list[str] = []
    for token in tokens(once.html):
        if isinstance(token, Open) and token.name not in ("br", "hr", "img", "wbr"):
            stack.append(token.name)
        if isinstance(token, Close):
            assert stack.pop() == token.name
    assert stack == []
    assert len(stack) <= MAX_DEPTH
    assert tidy(once.html).html == once.html


@pytest.mark.parametrize(
    "unit",
    [
        *("<div>", "<b id=1>", "<table><tr><td>", "<ul><li>x", "<blockquote>x", "<a href='", "<"),
        *(
            "<!--",
            "<p>x",
            "</a",
            "<a =",
            "<p hidden>",
            "<script>",
            "<pre><code>",
            "&#",
            "<font><p>x",
        ),
    ],
)
def test_a_page_of_one_thing_a_hundred_thousand_times_is_bounded(unit: str) -> None:
    page = convert(unit * 100_000, "markdown")

    assert len(page.text) <= 4 * MAX_TEXT
    assert page.cut == (tidy(unit * 100_000).cut)


@pytest.mark.parametrize("control", ["\0", "\x02", "\x0c", "\x1f", "\x7f", "\x85"])
def test_control_characters_make_no_page_unreadable(control: str) -> None:
    assert markdown(f"<p>a{control * 200}b").replace("\x85", "") == "ab"


def test_a_long_page_is_cut_and_says_so() -> None:
    assert tidy("<p>x" * (MAX_ELEMENTS + 1)).cut
    assert tidy("x" * (MAX_TEXT + 1)).cut
    assert not tidy("<p>x").cut


def test_a_tag_keeps_its_first_attributes_and_the_first_of_a_name() -> None:
    many = " ".join(f"a{number}=1" for number in range(1000))
    (tag,) = tokens(f"<p b='1' b=2 {many}>")

    assert isinstance(tag, Open)
    assert tag.attributes["b"] == "1"
    assert len(tag.attributes) == MAX_ATTRIBUTES


@pytest.mark.parametrize(
    ("html", "expected"),
    [
        ("a<b>c</b>", [Text(text="a"), Open(name="b"), Text(text="c"), Close(name="b")]),
        ("<A HREF=x/y data-z>", [Open(name="a", attributes={"href": "x/y", "data-z": ""})]),
        ("<br/>", [Open(name="br")]),
        ("<a b = 'c>d' >", [Open(name="a", attributes={"b": "c>d"})]),
        ("<script>a<b>c</scriptx></script>", [
            Open(name="script"), Text(text="a<b>c</scriptx>", raw="script"), Close(name="script")]),
        ("<a b='", []),
        ("<!doctype html><?xml?><!---->x", [Text(text="x")]),
    ],
)  # fmt: skip
def test_tokens_are_those_of_browsers(html: str, expected: list[object]) -> None:
    assert list(tokens(html)) == expected
