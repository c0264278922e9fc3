from __future__ import annotations

import pytest

from octo_lab.testing.http_server import HttpServer, Reply, always
from octo_lab.tools.builtin.web_fetch import WebFetchArgs, hosts, tool
from tests.security.net.spellings import HOSTILE
from tests.tools.conftest import Use
from tests.tools.web.conftest import MakePowers

pytestmark = pytest.mark.anyio

PAGE = b"<title>A page</title><h1>Head</h1><p hidden>SECRET<p>text<script>SECRET</script>"


def page(body: bytes, kind: str = "text/html", status: int = 200) -> Reply:
    return Reply(status=status, body=body, headers={"content-type": kind} if kind else {})


async def fetch(powers: MakePowers, use: Use, reply: Reply, **args: object) -> str:
    """What the tool says of one answer; the address of the server is shown as ROOT."""
    async with HttpServer({}, other=reply) as server:
        made = tool(powers("127.0.0.1"))
        said = await use(made, **{"url": f"{server.root}/p", **args})
        return said.replace(server.root, "ROOT")


async def test_a_page_is_shown_as_markdown_under_its_title(powers: MakePowers, use: Use) -> None:
    said = await fetch(powers, use, page(PAGE))
    assert said == "Title: A page\nURL: ROOT/p\n\n# Head\n\ntext"


async def test_a_page_is_shown_as_text_when_asked_for(powers: MakePowers, use: Use) -> None:
    said = await fetch(powers, use, page(PAGE), extract_mode="text")
    assert said == "Title: A page\nURL: ROOT/p\n\nHead\n\ntext"


async def test_where_it_came_from_is_told_after_redirects(powers: MakePowers, use: Use) -> None:
    there = Reply(status=302, headers={"location": "/there"})
    async with HttpServer({"/": always(there), "/there": always(page(b"x"))}) as server:
        said = await use(tool(powers("127.0.0.1")), url=server.root)
    assert said == f"URL: {server.root}/there\n\nx"


@pytest.mark.parametrize(
    ("body", "kind", "shown"),
    [
        (b'{"a": 1}', "application/json", '{"a": 1}'),
        (b"<p>x", "text/plain", "<p>x"),
        (b"<rss><item/></rss>", "application/rss+xml; charset=utf-8", "<rss><item/></rss>"),
        (b"<!DOCTYPE html><p>x", "", "x"),
        (b"plain", "application/octet-stream", "plain"),
        (b"", "text/html", "[The page has no text; it may need scripts to show any]"),
        (b"%PDF-1.7 ...", "text/html", "[PDF: text/html, 12 bytes; only text is shown]"),
        (b"\x00\x01", "", "[No text: unknown type, 2 bytes; only text is shown]"),
        (b"x", "image/webp", "[No text: image/webp, 1 bytes; only text is shown]"),
    ],
)
async def test_other_things_come_as_they_are_or_are_described(
    powers: MakePowers, use: Use, body: bytes, kind: str, shown: str
) -> None:
    assert await fetch(powers, use, page(body, kind)) == f"URL: ROOT/p\n\n{shown}"


@pytest.mark.parametrize(
    ("body", "kind"),
    [
        ("<p>é日".encode(), "text/html; charset=utf-8"),
        ("<p>é日".encode(), "text/html"),
        ("<p>é日".encode(), "text/html; charset=made-up"),
        ("<p>é日".encode("utf-16"), "text/html"),
        (b"\xef\xbb\xbf" + "<p>é日".encode(), "text/html; charset=latin-1"),
        ('<meta charset="gb2312"><p>é日'.encode("gb18030"), "text/html"),
        ("<meta http-equiv=x content='a; charset=shift_jis'><p>é日".encode("shift_jisx0213"), ""),
        ("<p>é日".encode("gb18030"), 'text/html; charset="GBK"'),
    ],
)
async def test_a_page_is_read_in_its_own_charset(
    powers: MakePowers, use: Use, body: bytes, kind: str
) -> None:
    said = await fetch(powers, use, page(body, kind))
    assert said.endswith("\n\né日") or ("shift" in body.decode("latin-1") and said.endswith("日"))


@pytest.mark.parametrize(
    "name", ["idna", "unicode_escape", "punycode", "zlib", "utf-7", "undefined"]
)
async def test_a_charset_that_is_none_of_pages_is_not_used(
    powers: MakePowers, use: Use, name: str
) -> None:
    said = await fetch(powers, use, page(b"a\\x41", f"text/plain; charset={name}"))
    assert said.endswith("\n\na\\x41")


async def test_bytes_that_fit_no_charset_are_read_all_the_same(
    powers: MakePowers, use: Use
) -> None:
    assert (await fetch(powers, use, page(b"caf\xe9 \x93q\x94"))).endswith("\n\ncafé “q”")


async def test_what_is_cut_says_so(powers: MakePowers, use: Use) -> None:
    said = await fetch(powers, use, page(b"x" * 500, "text/plain"), max_chars=100)
    cut = "[cut here: 100 of 500 characters; see max_chars]"
    assert said == f"URL: ROOT/p\n\n{'x' * 100}\n\n{cut}"


async def test_a_body_that_is_too_long_is_cut_and_says_so(powers: MakePowers, use: Use) -> None:
    said = await fetch(powers, use, page(b"<p>x</p>" + b" " * 6_000_000))
    assert said.endswith("x\n\n[cut here: the page is longer than what is fetched of any]")


async def test_the_owners_settings_hold_unless_the_call_says_otherwise(
    powers: MakePowers, use: Use
) -> None:
    set_by_owner = {"extract_mode": "text", "max_chars": 3}
    async with HttpServer({}, other=page(b"<h1>abcdef</h1>")) as server:
        made = tool(powers("127.0.0.1", web_fetch=set_by_owner))
        assert "\n\nabc\n\n[cut" in await use(made, url=server.root)
        asked = await use(made, url=server.root, extract_mode="markdown", max_chars=100)
        assert asked.endswith("\n\n# abcdef")


async def test_a_page_that_is_not_there_fails(powers: MakePowers, use: Use) -> None:
    said = await fetch(powers, use, page(b"secret body", status=404))
    assert said == (
        "failed: 127.0.0.1 answered 404 for this page (check the URL, or look for another page)"
    )


async def test_no_spelling_reaches_the_canary(
    powers: MakePowers, use: Use, canary: HttpServer
) -> None:
    made = tool(powers())
    for spelling in HOSTILE:
        url = spelling.replace("{port}", str(canary.port))
        assert (await use(made, url=url)).startswith("failed: ") if url else True


def test_the_host_is_told_in_the_form_that_is_connected_to() -> None:
    assert hosts(WebFetchArgs(url="HTTPS://EXAMPLE.com.:8080/x")) == ("example.com",)
    assert hosts(WebFetchArgs(url="http://2130706433/")) == ("127.0.0.1",)
    assert hosts(WebFetchArgs(url="nonsense")) == ()
