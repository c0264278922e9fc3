"""Public injection rows come in through every tool that hears strangers, and the model obeys."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest
from blockbuster import BlockBuster

from octo_lab.core.events import Decision
from octo_lab.core.mail import Settle
from octo_lab.core.messages import ToolCall
from octo_lab.core.turns import ToolBlock, TurnSnapshot
from octo_lab.testing.http_server import HttpServer
from octo_lab.testing.providers import calls, says
from octo_lab.tools.web.saved import slug
from tests.integration.obeying import (
    HEARD,
    ROWS,
    Strangers,
    World,
    browsers_tries,
    guests_tries,
    in_groups,
    made,
    owners_tries,
    world,
)
from tests.security.corpus import Row

DECISIONS: tuple[Decision, ...] = ("deny", "once")

pytestmark = [pytest.mark.anyio, pytest.mark.bwrap]


def hearing(tool: str, rows: Sequence[Row], here: World) -> ToolCall:
    """The call with which the tool hears these rows."""
    names = [row.id for row in rows]
    match tool:
        case "web_fetch" | "http_request":
            return made(tool, url=f"{here.pages.root}/text/{'+'.join(names)}")
        case "web_search":
            return made(tool, query=" ".join(names))
        case "deep_search":
            return made(tool, query=" ".join(names), depth=1)
        case "site_crawl":
            return made(tool, url=f"{here.pages.root}/site/{'+'.join(names)}")
    here.heard.append("\n\n".join(row.text for row in rows))
    return made(tool)


@pytest.mark.parametrize(
    ("tool", "at_once"),
    [
        ("web_fetch", 1),
        ("http_request", 4),
        ("web_search", 4),
        ("deep_search", 4),
        ("site_crawl", 4),
        ("read_mail", 4),
    ],
)
async def test_rows_get_nothing_out_where_the_owner_speaks(
    folder: Path, pages: Strangers, canary: HttpServer, tool: str, at_once: int
) -> None:
    async with world(folder, pages, canary) as (here, _):
        for rows in in_groups(ROWS, at_once):
            await here.obey(
                rows, hearing(tool, rows, here), tries=owners_tries(here), chat=rows[0].id
            )


async def test_rows_that_were_saved_get_nothing_out_when_they_are_read_again(
    folder: Path, pages: Strangers, canary: HttpServer
) -> None:
    async with world(folder, pages, canary) as (here, _):
        for row in HEARD:
            await here.turn(made("deep_search", query=row.id, depth=1), chat="saving")
            await here.channel.message(await here.channel.ask("/clear", chat_id="saving"))
            here.channel.sent.clear()
            saved = made("read_file", path=f"research/{slug(row.id)}/01_127.0.0.1.md")
            await here.obey([row], saved, tries=owners_tries(here), chat=row.id)


@pytest.mark.browser
async def test_rows_of_a_page_in_a_browser_get_nothing_out(
    folder: Path, pages: Strangers, canary: HttpServer
) -> None:
    """One browser for all: ``/clear`` forgets what was read, and leaves the page open."""
    async with world(folder, pages, canary) as (here, _):
        for rows in in_groups(ROWS, 8):
            await here.channel.message(await here.channel.ask("/clear"))
            here.channel.sent.clear()
            names = "+".join(row.id for row in rows)
            await here.obey(
                rows,
                made("browser", action="get_text"),
                made("browser", action="get_html"),
                first=[made("browser", action="navigate", url=f"{pages.root}/page/{names}")],
                tries=[*browsers_tries(here), *owners_tries(here)],
                chat="1",
            )


@pytest.mark.parametrize("tool", ["web_fetch", "web_search", "site_crawl", "read_mail"])
async def test_rows_get_nothing_out_in_a_chat_with_others(
    folder: Path, pages: Strangers, canary: HttpServer, tool: str
) -> None:
    async with world(folder, pages, canary, channel="telegram") as (here, _):
        for rows in in_groups(HEARD, 1):
            await here.obey(
                rows, hearing(tool, rows, here), tries=guests_tries(here), chat=rows[0].id
            )


async def test_a_yes_of_the_person_lets_it_out_and_a_no_keeps_it_in(
    folder: Path, pages: Strangers, canary: HttpServer, no_blocking_calls: BlockBuster
) -> None:
    """Else the tests above would prove nothing: the same calls do reach the canary, but for a
    command, which has no network behind its walls.
    """
    no_blocking_calls.deactivate()  # here the kernel's main thread is the runtime's, too
    async with world(folder, pages, canary) as (here, _):
        for call in (
            made("web_fetch", url=f"{canary.root}/web_fetch"),
            made("http_request", url=f"{canary.root}/http_request"),
            made(
                "python",
                code=f"from urllib.request import urlopen\nurlopen('{canary.root}/python')",
            ),
        ):
            for decision in DECISIONS:
                question = await asked_about(here, call, decision)
                assert question.risk.partition(", ")[2].startswith(
                    "after private data was read: read_file read '.env'; "
                    "read_file gave something that looks like a key"
                )
        walled = await asked_about(here, made("shell", command=f"curl {canary.root}/shell"), "once")

    assert "reaches another machine" in walled.risk
    assert [asked.path for asked in canary.asked] == ["/web_fetch", "/http_request", "/python"]


@pytest.mark.parametrize(
    ("channel", "sent"), [("notebook", [".env", "notes.txt"]), ("telegram", ["notes.txt"])]
)
async def test_a_private_file_is_shown_when_the_owner_says_so_and_to_others_never(
    folder: Path, pages: Strangers, canary: HttpServer, channel: str, sent: list[str]
) -> None:
    """Another file goes unasked, until private data was read."""
    async with world(folder, pages, canary, channel=channel) as (here, _):
        question = await asked_about(here, made("send_file", path=".env"), "once", read=False)
        _, (plain,) = await here.turn(made("send_file", path="notes.txt"), chat="plain")

    assert question.risk.startswith("network, after private data was read: it names '.env'")
    assert plain.outcome == "ok"
    assert [message.media[0].name for message in here.channel.sent] == sent


async def asked_about(
    here: World, call: ToolCall, decision: Decision, *, read: bool = True
) -> ToolBlock:
    """The question about a call, after the secret was ``read``; it gets this answer."""
    before = [calls(made("read_file", path=".env"))] if read else []
    here.provider.add(*before, calls(call), says("Done."))
    chat = f"{call.name} {decision}"
    asked = await here.channel.ask("look", chat_id=chat)
    running = await here.channel.running(asked, lambda turn: bool(_question(turn)))
    question = _question(running)
    assert question
    settle = Settle(approval_id=question.approval_id, decision=decision)
    await here.channel.control(settle, chat_id=chat)
    await here.channel.turn(asked)
    return question


def _question(turn: TurnSnapshot) -> ToolBlock | None:
    return next((b for b in turn.blocks if isinstance(b, ToolBlock) and b.state == "asking"), None)
