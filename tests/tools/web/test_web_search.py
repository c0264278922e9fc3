from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from octo_lab.testing.http_server import Asked, HttpServer, Reply, Route, always, json_reply
from octo_lab.tools.builtin.web_search import WebSearchArgs, hosts, tool
from octo_lab.tools.web.engine import Hit, tidied
from octo_lab.tools.web.search import ENGINES, ready_engines
from tests.security.net.spellings import HOSTILE
from tests.tools.conftest import Use
from tests.tools.web.conftest import MakePowers

pytestmark = pytest.mark.anyio

KEYS = {
    "TAVILY_API_KEY": "k-tavily",
    "EXA_API_KEY": "k-exa",
    "BRAVE_API_KEY": "k-brave",
    "YDC_API_KEY": "k-you",
    "PERPLEXITY_API_KEY": "k-perplexity",
}
ROW = {"title": "A <b>title</b> &amp; more", "url": "https://a.example/1"}
DUCK = """<div class="result results_links web-result"><h2 class="result__title">
<a rel="nofollow" class="result__a"
 href="//duckduckgo.com/l/?uddg=https%3A%2F%2Fa.example%2F1&amp;rut=abc">
A <b>title</b> &amp; more</a></h2>
<a class="result__snippet" href="//duckduckgo.com/l/?uddg=x">The <b>text</b>.</a></div>
<div class="result result--ad"><a class="result__a"
 href="https://duckduckgo.com/y.js?ad_domain=shop.example&amp;u3=x">Ad</a></div>"""
# What each engine answers with one result, and where.
ANSWERS: Mapping[str, tuple[str, Reply]] = {
    "tavily": ("/search", json_reply({"results": [{**ROW, "content": "The text."}]})),
    "exa": ("/search", json_reply({"results": [{**ROW, "text": "The text."}]})),
    "perplexity": ("/search", json_reply({"results": [{**ROW, "snippet": "The text."}]})),
    "you": ("/v1/search", json_reply({"results": {"web": [{**ROW, "snippets": ["The text."]}]}})),
    "brave": (
        "/res/v1/web/search",
        json_reply({"web": {"results": [{**ROW, "description": "The <strong>text</strong>."}]}}),
    ),
    "searxng": ("/search", json_reply({"results": [{**ROW, "content": "The text."}]})),
    "wikipedia": (
        "/w/rest.php/v1/search/page",
        json_reply({"pages": [{"title": ROW["title"], "key": "A_b", "excerpt": "The text."}]}),
    ),
    "duckduckgo": ("/html/", Reply(body=DUCK.encode(), headers={"content-type": "text/html"})),
}
SENT = {
    "tavily": ("POST", "authorization", "Bearer k-tavily"),
    "exa": ("POST", "x-api-key", "k-exa"),
    "perplexity": ("POST", "authorization", "Bearer k-perplexity"),
    "you": ("GET", "x-api-key", "k-you"),
    "brave": ("GET", "x-subscription-token", "k-brave"),
    "searxng": ("GET", "accept", "application/json"),
    "wikipedia": ("GET", "accept", "application/json"),
    "duckduckgo": ("GET", "accept", "text/html"),
}


def options(server: HttpServer, *names: str) -> dict[str, Any]:
    every = names or tuple(ANSWERS)
    return {"engines": names, "urls": {name: f"{server.root}/{name}" for name in every}}


def serving(**replies: Reply) -> dict[str, Route]:
    """Routes of the engines; one that is not named answers as it should."""
    return {
        f"/{name}{path}": always(replies.get(name, reply))
        for name, (path, reply) in ANSWERS.items()
    }


class AnyQuery(dict[str, Route]):
    """Routes by path alone."""

    def get(self, path: str, default: Any = None) -> Any:
        return super().get(path.partition("?")[0], default)


@pytest.mark.parametrize("name", ANSWERS)
async def test_each_engine_is_asked_in_its_way_and_read(
    powers: MakePowers, use: Use, name: str
) -> None:
    async with HttpServer(AnyQuery(serving())) as server:
        made = tool(powers("127.0.0.1", environ=KEYS, web_search=options(server, name)))
        said = await use(made, query="two  words", count=3)
    url = "https://en.wikipedia.org/wiki/A_b" if name == "wikipedia" else ROW["url"]
    assert said == (
        f"Results for 'two words' ({name}):\n\n1. A title & more\n   {url}\n   The text."
    )
    (asked,) = server.asked
    method, header, value = SENT[name]
    assert (asked.method, asked.headers[header]) == (method, value)
    everything = asked.path + asked.body.decode()
    assert "two+words" in everything or "two words" in everything
    assert "k-" not in everything


async def test_the_engines_are_tried_in_their_order_until_one_has_results(
    powers: MakePowers, use: Use
) -> None:
    replies = {name: Reply(status=500) for name in ANSWERS}
    async with HttpServer(AnyQuery(serving(**replies))) as server:
        made = tool(powers("127.0.0.1", environ=KEYS, web_search=options(server)))
        said = await use(made, query="q")
    order = ["searxng", "tavily", "duckduckgo", "exa", "brave", "you", "perplexity", "wikipedia"]
    assert [asked.path.split("/")[1] for asked in server.asked] == order
    told = "; ".join(f"{name}: it answered 500" for name in order)
    assert said.startswith(f"failed: No search engine could be asked: {told} (the owner can set ")


@pytest.mark.parametrize(
    ("reply", "why"),
    [
        (Reply(status=401), "it refused the key or the asker (401)"),
        (Reply(status=429), "it was asked too often or has no credit left (429)"),
        (Reply(status=302, headers={"location": "/duckduckgo/html/"}), "it answered 302"),
        (Reply(body=b"{"), "it gave an answer that cannot be read"),
        (Reply(body=b"[" * 100_000), "it gave an answer that cannot be read"),
        (json_reply({"results": {"a": 1}}), "it gave an answer that cannot be read"),
        (
            Reply(body=b"x", headers={"content-encoding": "br"}),
            "The answer is packed as 'br', unasked",
        ),
    ],
)
async def test_one_that_fails_is_passed_over_and_told(
    powers: MakePowers, use: Use, reply: Reply, why: str
) -> None:
    async with HttpServer(AnyQuery(serving(tavily=reply))) as server:
        chosen = options(server, "tavily", "duckduckgo")
        made = tool(powers("127.0.0.1", environ=KEYS, web_search=chosen))
        said = await use(made, query="q")
    assert said.startswith("Results for 'q' (duckduckgo):\n\n1. A title & more\n")
    assert said.endswith(f"\n\n[not used: tavily: {why}]")
    assert [asked.path.split("?")[0] for asked in server.asked] == [
        "/tavily/search",
        "/duckduckgo/html/",
    ]


async def test_a_page_that_asks_for_a_person_is_no_page_of_results(
    powers: MakePowers, use: Use
) -> None:
    puzzle = Reply(body=b"<form id='challenge-form'>Select all ducks</form>")
    async with HttpServer(AnyQuery(serving(duckduckgo=puzzle))) as server:
        made = tool(powers("127.0.0.1", web_search=options(server, "duckduckgo")))
        assert "duckduckgo: it gave an answer that cannot be read" in await use(made, query="q")


async def test_no_result_is_an_answer_once_all_were_asked(powers: MakePowers, use: Use) -> None:
    empty = {"tavily": json_reply({"results": []}), "wikipedia": json_reply({"pages": []})}
    async with HttpServer(AnyQuery(serving(**empty))) as server:
        chosen = options(server, "tavily", "wikipedia")
        made = tool(powers("127.0.0.1", environ=KEYS, web_search=chosen))
        assert await use(made, query="q") == "No results for 'q' (tavily)."
        assert len(server.asked) == 2


async def test_as_many_results_are_given_as_asked_for_or_set(powers: MakePowers, use: Use) -> None:
    rows = [{"title": f"t{n}", "url": f"https://a.example/{n // 2}"} for n in range(40)]
    seen: list[Any] = []

    def answer(asked: Asked) -> Reply:
        seen.append(json.loads(asked.body)["max_results"])
        return json_reply({"results": rows})

    async with HttpServer({"/tavily/search": answer}) as server:
        chosen = {**options(server, "tavily"), "count": 7}
        made = tool(powers("127.0.0.1", environ=KEYS, web_search=chosen))
        assert (await use(made, query="q")).count("https://") == 7
        assert (await use(made, query="q", count=2)).count("https://") == 2
    assert seen == [7, 2]


async def test_an_address_set_for_an_engine_goes_through_the_guard(
    powers: MakePowers, use: Use, canary: HttpServer
) -> None:
    shared = powers()
    for spelling in filter(None, HOSTILE):
        url = spelling.replace("{port}", str(canary.port))
        chosen = {"engines": ("searxng",), "urls": {"searxng": url}}
        made = tool(replace(shared, options={"web_search": chosen}))
        assert (await use(made, query="q")).startswith("failed: No search engine could be asked: ")


async def test_a_name_that_is_no_engine_is_told(powers: MakePowers, use: Use) -> None:
    made = tool(powers(web_search={"engines": ("gogle",)}))
    said = await use(made, query="q")
    assert said.startswith("failed: The settings of web_search name 'gogle', which is no engine")


def test_engines_without_their_key_or_address_are_left_out(powers: MakePowers) -> None:
    def names(environ: dict[str, str]) -> list[str]:
        return [one.engine.name for one in ready_engines(environ)]

    assert names({}) == ["duckduckgo", "wikipedia"]
    assert names({"YOU_API_KEY": "k", "SEARXNG_URL": "https://s.example/"}) == [
        "searxng",
        "duckduckgo",
        "you",
        "wikipedia",
    ]
    assert len(names({**KEYS, "SEARXNG_URL": "x"})) == len(ENGINES)
    assert "k-exa" not in repr(ready_engines(KEYS))


def test_the_hosts_are_all_that_the_query_may_go_to(powers: MakePowers) -> None:
    environ = {"EXA_API_KEY": "k", "SEARXNG_URL": "http://localhost:8888"}
    assert hosts(powers(environ=environ), WebSearchArgs(query="q")) == (
        "localhost",
        "html.duckduckgo.com",
        "api.exa.ai",
        "en.wikipedia.org",
    )


def test_results_that_lead_nowhere_or_twice_to_one_page_are_left_out() -> None:
    bad = ["", "javascript:alert(1)", "ftp://a.example", "http://u@a.example", "https://x" * 999]
    hits = [Hit(title="t", url=url) for url in (*bad, "https://a.example", "https://a.example")]
    assert tidied(hits, 5) == [Hit(title="t", url="https://a.example")]


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=8),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(["results", "web", "pages", "url", "title", "snippets"]), inner
        )
    ),
    max_leaves=12,
)


@given(JSON.map(json.dumps) | st.text(max_size=60), st.sampled_from(ENGINES))
def test_whatever_an_engine_answers_is_read_or_refused(body: str, engine: Any) -> None:
    try:
        hits = list(engine.read(body.encode("utf-8", "replace")))
    except ValueError:
        return
    assert all(isinstance(hit, Hit) for hit in hits)
