from __future__ import annotations

from pathlib import Path

import anyio
import psutil
import pytest

from octo_lab.core.errors import ToolFailed
from octo_lab.security.net.client import GuardedClient
from octo_lab.testing.http_server import HttpServer, Reply, always
from octo_lab.tools.browser import actions
from octo_lab.tools.browser.browsers import Browsers
from octo_lab.tools.browser.found import Found, find_browser, sure
from octo_lab.tools.browser.running import browser_environ
from octo_lab.tools.browser.walls import walled_argv
from octo_lab.tools.builtin.browser import BrowserArgs, detail, hosts, judge, tool
from octo_lab.tools.policy import ChannelTools, why_not
from octo_lab.tools.powers import Powers
from octo_lab.tools.verdict import Verdict
from tests.tools.browser.conftest import Open
from tests.tools.conftest import Use
from tests.tools.web.conftest import NoPrograms

pytestmark = pytest.mark.anyio

PAGE = b"""<!doctype html><title>Ducks</title><h1>All about ducks</h1>
<input id=name><button onclick="document.title='Hello ' + document.getElementById('name').value;
document.getElementById('out').textContent = 'made by a script'">Greet</button>
<p id=out></p><p id=long></p><a href="/next">Next page</a>
<a id=down href="/file" download>Get it</a>
<script>document.getElementById('long').textContent = 'x'.repeat(60000)</script>"""


def html(body: bytes) -> Reply:
    return Reply(body=body, headers={"content-type": "text/html"})


def ducks() -> HttpServer:
    file = Reply(
        body=b"data",
        headers={
            "content-type": "application/octet-stream",
            "content-disposition": "attachment; filename=duck.bin",
        },
    )
    pages = {
        "/": always(html(PAGE)),
        "/next": always(html(b"<title>Next</title><p>The next page")),
        "/file": always(file),
        "/slow": always(Reply(body=b"late", wait=30.0)),
        "/busy": always(html(b"<title>Busy</title><script>onload = () => { while (1); }</script>")),
    }
    return HttpServer(pages)


def using(browsers: Browsers | None) -> Powers:
    return Powers(exec=NoPrograms(), web=GuardedClient(), browsers=browsers)


@pytest.mark.browser
async def test_a_page_is_visited_as_a_person_would(browsers: Open, use: Use) -> None:
    async with ducks() as server, browsers("127.0.0.1") as own:
        made = tool(using(own))

        async def act(action: str, **args: object) -> str:
            said = await use(made, action=action, **args)
            return said.replace(server.root, "ROOT")

        said = await act("navigate", url=server.root)
        head = "Title: Ducks\nURL: ROOT/\nStatus: 200\n\nAll about ducks"
        assert said.startswith(head)
        assert "[cut here: 4,000 of 60," in said
        assert (await act("get_text", selector="h1")).endswith("\n\nAll about ducks")
        typed = await act("type", selector="#name", text="Daisy")
        assert typed == "Typed.\nTitle: Ducks\nURL: ROOT/\n"
        clicked = await act("click", selector="text=Greet")
        assert clicked == "Clicked.\nTitle: Hello Daisy\nURL: ROOT/\n"
        seen = await act("get_html", selector="#out")
        assert seen.endswith('\n\n<p id="out">made by a script</p>')
        assert await act("evaluate", script="({a: [1, 'é']})") == '{"a":[1,"é"]}'
        assert await act("evaluate", script="() => document.links.length") == "2"
        gone = await act("click", selector="text=Next page")
        assert gone == "Clicked.\nTitle: Next\nURL: ROOT/next\n"
        assert await act("close") == "The browser is closed."
        assert await act("close") == "None was open."
        assert await act("get_text") == ("failed: No page is open (navigate to one first)")


@pytest.mark.browser
async def test_what_is_taken_of_a_page_is_bounded(browsers: Open) -> None:
    async with ducks() as server, browsers("127.0.0.1") as own:
        await actions.navigate(own, "s", server.root)
        text = (await actions.get_text(own, "s", "")).text
        assert len(text) < 51_000
        assert "[cut here: 50,000 of 60," in text
        value = (await actions.evaluate(own, "s", "'y'.repeat(5e6)")).text
        assert value.endswith("y\n[cut here: 20,000 of 5,000,000 characters]")


@pytest.mark.browser
async def test_a_screenshot_is_a_picture(browsers: Open) -> None:
    async with ducks() as server, browsers("127.0.0.1") as own:
        await actions.navigate(own, "s", server.root)
        for full in (False, True):
            result = await actions.screenshot(own, "s", full=full)
            assert [media.mime for media in result.media] == ["image/jpeg"]
            assert result.media[0].data.startswith(b"\xff\xd8\xff")


@pytest.mark.browser
async def test_dialogs_windows_and_downloads_are_refused_and_told(browsers: Open) -> None:
    async with ducks() as server, browsers("127.0.0.1") as own:
        await actions.navigate(own, "s", server.root)
        asked = await actions.evaluate(own, "s", "String(confirm('Sure?')) + prompt('Name?')")
        assert asked.text.startswith("falsenull")
        assert "[a dialog was dismissed: Sure?]" in asked.text
        await actions.evaluate(own, "s", "void window.open('/next')")
        await anyio.sleep(1)
        told = (await actions.click(own, "s", "#down")).text
        await anyio.sleep(1)
        told += (await actions.get_text(own, "s", "h1")).text
        assert "a new window was closed: " in told
        assert "a download was refused: " in told
        owned = own.open("s")
        assert owned
        assert owned.running
        assert len(owned.running.page.context.pages) == 1


@pytest.mark.browser
async def test_an_action_has_its_seconds_and_a_page_that_hangs_ends_the_browser(
    browsers: Open,
) -> None:
    async with ducks() as server, browsers("127.0.0.1", seconds=2.0) as own:
        with pytest.raises(ToolFailed, match="not done within 2 s"):
            await actions.navigate(own, "s", f"{server.root}/slow")
        assert own.open("s")
        await actions.navigate(own, "s", server.root)
        with pytest.raises(ToolFailed, match="not done within 2 s"):
            await actions.click(own, "s", "#nowhere")
        assert own.open("s")
        with pytest.raises(ToolFailed, match="not done within 2 s"):
            await actions.evaluate(own, "s", "while (true);")
        await until_gone(own)


async def until_gone(own: Browsers) -> None:
    with anyio.fail_after(20):
        while own.open("s") is not None:  # noqa: ASYNC110 - the owner tells nobody
            await anyio.sleep(0.05)


def running_browsers() -> list[psutil.Process]:
    """The programs below this one that were started from a profile of ours."""
    found = []
    for process in psutil.Process().children(recursive=True):
        try:
            line = " ".join(process.cmdline())
        except psutil.Error:
            continue
        if "octo-browser-" in line:
            found.append(process)
    return found


@pytest.mark.browser
async def test_what_is_not_used_ends_and_nothing_is_left(browsers: Open) -> None:
    async with ducks() as server, browsers("127.0.0.1", idle=1.0) as own:
        await actions.navigate(own, "s", server.root)
        started = await anyio.to_thread.run_sync(running_browsers)
        assert started
        await until_gone(own)
        assert not [one for one in started if one.is_running() and one.status() != "zombie"]
        assert not await anyio.to_thread.run_sync(running_browsers)


@pytest.mark.browser
async def test_a_cancelled_action_kills_the_browser(browsers: Open) -> None:
    async with ducks() as server, browsers("127.0.0.1") as own:
        await actions.navigate(own, "s", server.root)
        with anyio.move_on_after(0.5) as scope:
            await actions.navigate(own, "s", f"{server.root}/slow")
        assert scope.cancelled_caught
        await until_gone(own)
        assert not await anyio.to_thread.run_sync(running_browsers)


@pytest.mark.browser
async def test_the_runtime_takes_its_browsers_along(browsers: Open) -> None:
    async with ducks() as server:
        async with browsers("127.0.0.1") as own:
            await actions.navigate(own, "s", server.root)
        assert not await anyio.to_thread.run_sync(running_browsers)


@pytest.mark.browser
async def test_conversations_share_no_browser(browsers: Open) -> None:
    async with ducks() as server, browsers("127.0.0.1") as own:
        await actions.navigate(own, "one", server.root)
        await actions.evaluate(own, "one", "document.cookie = 'a=1'; localStorage.b = 2")
        await actions.navigate(own, "two", server.root)
        seen = await actions.evaluate(own, "two", "document.cookie + Object.keys(localStorage)")
        assert seen.text == ""


@pytest.mark.browser
async def test_the_browser_gets_none_of_the_owners_variables(browsers: Open) -> None:
    environ = {"PATH": "/usr/bin:/bin", "MY_API_KEY": "sk-abcdefghijklmnop", "OTHER": "x"}
    async with ducks() as server, browsers("127.0.0.1", environ=environ) as own:
        await actions.navigate(own, "s", server.root)
        for process in await anyio.to_thread.run_sync(running_browsers):
            try:
                given = await anyio.to_thread.run_sync(process.environ)
            except psutil.Error:
                continue
            assert not {"MY_API_KEY", "OTHER"} & set(given)


async def test_without_a_browser_the_tool_is_not_offered_and_says_what_to_install(
    use: Use,
) -> None:
    found = Found(missing="playwright is not installed: pip install 'octo_lab[browser]'")
    async with anyio.create_task_group() as tasks:
        own = Browsers(found, GuardedClient()._dialer, tasks, environ={})
        made = tool(using(own))
        here = ChannelTools(origin="owner")
        why = why_not(made, channel="notebook", allow=("*",), deny=(), here=here)
        assert why == found.missing
        assert not made.offered_to("notebook")
        said = await use(made, action="navigate", url="https://93.184.216.34/")
        assert said == f"failed: There is no browser: {found.missing}"


def test_a_browser_that_was_set_and_is_not_there_is_named() -> None:
    missing = find_browser("/no/such/browser").missing
    assert missing == (
        "'/no/such/browser' (browser.executable) was not found: install it, "
        "as with apt install chromium"
    )


def test_walls_that_do_not_hold_are_not_relied_on(tmp_path: Path) -> None:
    broken = tmp_path / "bwrap"
    broken.write_text("#!/bin/sh\nexit 1\n")
    broken.chmod(0o755)
    for walls in (str(broken), str(tmp_path / "gone")):
        assert sure(Found(program="chromium", walls=walls)) == Found(program="chromium")


def test_only_scripts_are_asked_about_and_the_host_is_told(tmp_path: Path) -> None:
    script = BrowserArgs(action="evaluate", script="1")
    assert judge(script, tmp_path) == Verdict("ask", "it runs a script in a page")
    visit = BrowserArgs(action="navigate", url="http://2130706433/")
    assert judge(visit, tmp_path) == Verdict("allow", "it only visits pages")
    assert hosts(visit) == ("127.0.0.1",)
    assert detail(visit) == "navigate http://2130706433/"


async def test_an_action_without_what_it_needs_is_refused(use: Use, browsers: Open) -> None:
    async with browsers() as own:
        said = await use(tool(using(own)), action="click")
    assert said == "failed: click needs 'selector' (call it again with it)"


def test_the_variables_are_few_and_the_home_is_its_own(tmp_path: Path) -> None:
    environ = {"PATH": "/bin", "LANG": "de", "HOME": "/root", "LD_PRELOAD": "x", "TOKEN": "y"}
    assert browser_environ(environ, tmp_path) == {
        "PATH": "/bin",
        "LANG": "de",
        "HOME": str(tmp_path),
        "TMPDIR": "/tmp",
        "DBUS_SESSION_BUS_ADDRESS": "disabled:",
    }


def test_within_the_walls_there_is_the_system_and_the_profile(tmp_path: Path) -> None:
    argv = walled_argv("bwrap", ["chromium"], tmp_path)
    bound = [argv[place + 1] for place, word in enumerate(argv) if word == "--bind"]
    assert bound == [str(tmp_path)]
    assert argv[-2:] == ["--", "chromium"]
