from __future__ import annotations

import json
from pathlib import Path

import pytest

from octo_lab.core.messages import ToolCall
from octo_lab.testing.http_server import Asked, HttpServer, Reply, always
from octo_lab.tools.builtin.http_request import BODY_CHARS, HttpRequestArgs, detail, tool
from octo_lab.tools.decision import ToolRules, decide, question_of
from octo_lab.tools.verdict import Ruling
from tests.security.net.spellings import HOSTILE
from tests.tools.conftest import Use
from tests.tools.web.conftest import MakePowers

pytestmark = pytest.mark.anyio


def echo(asked: Asked) -> Reply:
    kept = {name: asked.headers[name] for name in ("content-type", "x-a") if name in asked.headers}
    body = {"method": asked.method, "headers": kept, "body": asked.body.decode()}
    headers = {"content-type": "application/json", "server": "s", "date": "d"}
    return Reply(status=201, body=json.dumps(body).encode(), headers=headers)


@pytest.mark.parametrize(
    ("args", "arrived"),
    [
        ({}, {"method": "GET", "headers": {}, "body": ""}),
        (
            {"method": "POST", "json_body": {"a": [1]}, "headers": {"X-A": "b"}},
            {
                "method": "POST",
                "headers": {"content-type": "application/json", "x-a": "b"},
                "body": '{"a": [1]}',
            },
        ),
        (
            {"method": "PUT", "body": "ü", "headers": {"Content-Type": "text/plain"}},
            {"method": "PUT", "headers": {"content-type": "text/plain"}, "body": "ü"},
        ),
    ],
)
async def test_what_is_asked_arrives_and_the_answer_is_shown_as_it_came(
    powers: MakePowers, use: Use, args: dict[str, object], arrived: dict[str, object]
) -> None:
    async with HttpServer({"/x": echo}) as server:
        said = await use(tool(powers("127.0.0.1")), url=f"{server.root}/x", **args)
    head, _, body = said.partition("\n\n")
    assert head.splitlines()[:2] == [f"{server.root}/x", "HTTP 201 Created"]
    assert "content-type: application/json" in head
    assert json.loads(body) == arrived


async def test_an_error_of_the_server_is_an_answer(powers: MakePowers, use: Use) -> None:
    async with HttpServer({}, other=Reply(status=404, body=b"no such thing")) as server:
        said = await use(tool(powers("127.0.0.1")), url=server.root)
    assert "HTTP 404 Not Found\n" in said
    assert said.endswith("\n\nno such thing")


async def test_an_answer_is_bounded_and_only_text_is_shown(powers: MakePowers, use: Use) -> None:
    routes = {
        "/long": always(Reply(body=b"x" * 3_000_000, headers={"content-type": "text/plain"})),
        "/png": always(Reply(body=b"\x89PNG...", headers={"content-type": "image/png"})),
        "/none": always(Reply(status=204)),
        "/heads": always(Reply(headers={f"x-{n}": "y" * 900 for n in range(60)})),
    }
    async with HttpServer(routes) as server:
        made = tool(powers("127.0.0.1"))
        long, png, none, heads = [await use(made, url=f"{server.root}{path}") for path in routes]
    assert BODY_CHARS < len(long) < BODY_CHARS + 1000
    assert long.endswith("[cut: only the first 1,000,000 bytes were read]")
    assert png.endswith("\n\n[PNG picture: image/png, 7 bytes; only text is shown]")
    assert none.endswith("\n\n[no body]")
    assert len(heads) < 26_000


async def test_two_bodies_are_one_too_many(powers: MakePowers, use: Use) -> None:
    said = await use(tool(powers()), url="http://a.example", body="x", json_body=1)
    assert said == "failed: body and json_body cannot both be sent (leave out one)"


@pytest.mark.parametrize("method", ["GET", "POST", "DELETE"])
async def test_no_spelling_reaches_the_canary(
    powers: MakePowers, use: Use, canary: HttpServer, method: str
) -> None:
    made = tool(powers())
    for spelling in filter(None, HOSTILE):
        url = spelling.replace("{port}", str(canary.port))
        assert (await use(made, url=url, method=method)).startswith("failed: ")


@pytest.mark.parametrize(
    ("args", "granted", "decision"),
    [
        ({}, set(), "ask"),
        ({"url": "https://api.example/x"}, set(), "allow"),
        ({"url": "https://api.example/x", "method": "POST"}, set(), "ask"),
        ({"url": "https://api.example/x", "body": "x"}, set(), "ask"),
        ({"method": "POST"}, {"http_request: POST a.example"}, "allow"),
        ({"method": "PUT"}, {"http_request: POST a.example"}, "ask"),
        ({"method": "POST", "url": "https://b.example"}, {"http_request: POST a.example"}, "ask"),
        ({}, {"http_request"}, "allow"),
        ({"method": "DELETE"}, {"http_request"}, "ask"),
    ],
)
def test_reading_an_allowed_host_is_free_and_all_else_is_asked_about(
    powers: MakePowers, args: dict[str, object], granted: set[str], decision: Ruling
) -> None:
    made = tool(powers())
    call = ToolCall(id="1", name="http_request", arguments="{}")
    parsed = made.parse({"url": "https://a.example/", **args})
    question = question_of(made, call, parsed, Path("/w"))
    rules = ToolRules(hosts=("api.example",))
    assert decide(question, rules, granted).decision == decision


def test_the_person_who_is_asked_sees_all_that_would_be_sent() -> None:
    args = HttpRequestArgs(
        url="https://a.example/?q=1", method="POST", headers={"X": "y"}, json_body={"a": 1}
    )
    assert detail(args) == 'POST https://a.example/?q=1\nX: y\n\n{"a": 1}'
