"""``octo chat`` driven key by key: against a gateway in another process, and on its own."""

from __future__ import annotations

import shutil
import signal
import subprocess
import time
from collections.abc import AsyncGenerator, Callable, Iterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import Path
from uuid import uuid4

import anyio
import anyio.to_thread
import pytest
from textual.pilot import Pilot
from textual.widgets import Markdown, OptionList, Static
from textual.worker import WorkerFailed

from octo_lab.app import Setup
from octo_lab.cli.chat.app import ChatApp
from octo_lab.cli.chat.prompt import PromptArea
from octo_lab.cli.chat.sessions import SessionScreen
from octo_lab.cli.connect import gateway_again
from octo_lab.cli.local import open_local
from octo_lab.cli.outcome import Outcome
from octo_lab.config.place import find_place
from octo_lab.config.settings import LocalSettings, Settings
from octo_lab.core.mail import AskOptions
from octo_lab.gateway.find import find_gateway
from octo_lab.testing.llm_script import call, calls, fails, says
from octo_lab.testing.llm_server import LlmServer
from octo_lab.web.client import RemoteConversation, open_remote
from octo_lab.web.endpoint import Endpoint
from tests.cli.octo import KEY, OCTO, Octo
from tests.gateway.running import gateway, papermill_command

pytestmark = [pytest.mark.anyio, pytest.mark.kernel]

ENDLESS = says(*(f"word{n} " for n in range(2000)), delay=0.05)
ANSWER = says("# Title\n\n", "Some **bold**", " text, [no] markup [/]\n\n", "- one\n", "- two\n")


@pytest.fixture
def no_blocking_calls() -> None:
    """Not here: Textual reads its styles on its loop, below a frame of ours."""


@pytest.fixture(scope="module")
def server() -> Iterator[LlmServer]:
    with LlmServer() as server:
        yield server


@pytest.fixture(scope="module")
def octo(tmp_path_factory: pytest.TempPathFactory, server: LlmServer) -> Octo:
    return Octo(folder=tmp_path_factory.mktemp("chat")).with_model(server)


@pytest.fixture(scope="module")
def endpoint(octo: Octo) -> Iterator[Endpoint]:
    with gateway(octo, papermill_command(octo, "-p", "port", "0")) as running:
        yield running.endpoint


@asynccontextmanager
async def chatting(endpoint: Endpoint, chat: str) -> AsyncGenerator[Pilot[Outcome]]:
    app = ChatApp(lambda: open_remote(endpoint, chat), AskOptions())
    async with app.run_test(size=(100, 40)) as pilot:
        await until(pilot, lambda: "gateway" in status(app))
        yield pilot


@pytest.fixture
def chat_id() -> str:
    return uuid4().hex


async def until(pilot: Pilot[Outcome], happened: Callable[[], bool]) -> None:
    with anyio.fail_after(20):
        while not happened():
            await pilot.pause(0.05)


async def say(pilot: Pilot[Outcome], text: str) -> None:
    pilot.app.query_one(PromptArea).insert(text)
    await pilot.press("enter")


def status(app: ChatApp) -> str:
    return str(app.screen_stack[0].query_one("#status", Static).content)


def texts(pilot: Pilot[Outcome], kind: str) -> list[str]:
    return [str(widget.content) for widget in pilot.app.query(f".{kind}").results(Static)]


def answers(pilot: Pilot[Outcome]) -> list[str]:
    return [markdown.source for markdown in pilot.app.query(".turn Markdown").results(Markdown)]


async def test_a_turn_streams_in_with_its_tools_and_is_there_again_after_a_restart(
    endpoint: Endpoint, server: LlmServer, chat_id: str
) -> None:
    server.script(calls(call("list_dir", path=".")), ANSWER)
    answer = "# Title\n\nSome **bold** text, [no] markup [/]\n\n- one\n- two\n"
    async with chatting(endpoint, chat_id) as pilot:
        await say(pilot, "Look [b]here[/b]")
        await until(pilot, lambda: answers(pilot) == [answer])
        blocks = [type(block).__name__ for block in pilot.app.query_one(".turn Markdown").children]
        assert blocks == ["MarkdownH1", "MarkdownParagraph", "MarkdownBulletList"]
        assert texts(pilot, "prompt") == ["> Look [b]here[/b]"]
        assert texts(pilot, "line")[0].startswith('✓ list_dir {"path": "."} (')
        await until(pilot, lambda: "Look [b]here[/b] · openai" in status(as_chat(pilot)))
    async with chatting(endpoint, chat_id) as pilot:
        await until(pilot, lambda: answers(pilot) == [answer])
        assert texts(pilot, "prompt") == ["> Look [b]here[/b]"]


def as_chat(pilot: Pilot[Outcome]) -> ChatApp:
    assert isinstance(pilot.app, ChatApp)
    return pilot.app


def left(pilot: Pilot[Outcome]) -> bool:
    return pilot.app.return_value == Outcome()


async def test_escape_stops_the_turn(endpoint: Endpoint, server: LlmServer, chat_id: str) -> None:
    server.script(ENDLESS)
    before = len(server.disconnects)
    async with chatting(endpoint, chat_id) as pilot:
        await say(pilot, "count")
        await until(pilot, lambda: bool(answers(pilot)) and "word1" in answers(pilot)[0])
        await pilot.press("escape")
        await until(pilot, lambda: texts(pilot, "notice") == ["· stopped"])
        assert answers(pilot)[0].startswith("word0 word1 ")
    assert server.wait_until(lambda: len(server.disconnects) == before + 1)


async def test_ctrl_c_stops_the_turn_and_leaves_the_prompt(
    endpoint: Endpoint, server: LlmServer, chat_id: str
) -> None:
    server.script(ENDLESS)
    async with chatting(endpoint, chat_id) as pilot:
        await say(pilot, "count")
        await until(pilot, lambda: bool(answers(pilot)) and "word1" in answers(pilot)[0])
        pilot.app.query_one(PromptArea).insert("next")
        await pilot.press("ctrl+c")
        await until(pilot, lambda: texts(pilot, "notice") == ["· stopped"])
        assert pilot.app.query_one(PromptArea).text == "next"
        await until(pilot, lambda: status(as_chat(pilot)).startswith("count"))


async def test_ctrl_c_empties_the_prompt_and_leaves_only_when_pressed_twice(
    endpoint: Endpoint, chat_id: str
) -> None:
    async with chatting(endpoint, chat_id) as pilot:
        before = status(as_chat(pilot))
        await pilot.press("h", "i", "ctrl+c")
        assert pilot.app.query_one(PromptArea).text == ""
        assert status(as_chat(pilot)) == before
        await pilot.press("ctrl+c")
        assert status(as_chat(pilot)) == "press Ctrl-C again or Ctrl-D to quit"
        await pilot.press("x")
        await until(pilot, lambda: status(as_chat(pilot)) == before)
        await pilot.press("ctrl+c", "ctrl+c")
        assert status(as_chat(pilot)) == "press Ctrl-C again or Ctrl-D to quit"
        assert not left(pilot)
        assert not pilot.app.query("Toast")
        await pilot.press("ctrl+c")
    assert left(pilot)


async def test_ctrl_d_deletes_in_a_text_and_leaves_from_an_empty_prompt(
    endpoint: Endpoint, chat_id: str
) -> None:
    async with chatting(endpoint, chat_id) as pilot:
        area = pilot.app.query_one(PromptArea)
        await pilot.press("a", "b", "home", "ctrl+d")
        assert area.text == "b"
        await pilot.press("ctrl+d")
        assert (area.text, left(pilot)) == ("", False)
        await pilot.press("ctrl+d")
    assert left(pilot)


async def test_a_second_chat_sees_the_running_turn(
    endpoint: Endpoint, server: LlmServer, chat_id: str
) -> None:
    server.script(ENDLESS)
    async with chatting(endpoint, chat_id) as pilot:
        await say(pilot, "count")
        await until(pilot, lambda: bool(answers(pilot)))
        async with chatting(endpoint, chat_id) as second:
            await until(second, lambda: bool(answers(second)))
            await say(second, "/stop")
            await until(pilot, lambda: texts(pilot, "notice") == ["· stopped"])


async def test_slash_commands_are_completed_and_open_and_switch_sessions(
    endpoint: Endpoint, chat_id: str
) -> None:
    async with chatting(endpoint, chat_id) as pilot:
        await say(pilot, "first")
        await until(pilot, lambda: answers(pilot) == ["echo: first"])
        await pilot.press("/", "n", "e")
        completions = pilot.app.query_one("#completions", OptionList)
        await until(pilot, lambda: "/new [title]  open" in completions.render_line(0).text)
        assert completions.display
        await pilot.press("tab")
        assert pilot.app.query_one(PromptArea).text == "/new "
        await say(pilot, "other place")
        await until(pilot, lambda: status(as_chat(pilot)).startswith("other place"))
        assert answers(pilot) == []
        await pilot.press("ctrl+o")
        await until(pilot, lambda: isinstance(pilot.app.screen, SessionScreen))
        await pilot.press("down", "enter")
        await until(pilot, lambda: answers(pilot) == ["echo: first"])
        assert status(as_chat(pilot)).startswith("first")


async def test_mistakes_are_lines_on_the_screen(
    endpoint: Endpoint, server: LlmServer, chat_id: str
) -> None:
    async with chatting(endpoint, chat_id) as pilot:
        server.script(fails(401, f"Incorrect API key provided: {KEY}"))
        await say(pilot, "hi")
        await until(pilot, lambda: len(texts(pilot, "error")) == 1)
        assert "check the key of 'openai'" in texts(pilot, "error")[0]
        assert KEY not in texts(pilot, "error")[0]
        await say(pilot, "/nwe")
        await until(pilot, lambda: any("did you mean" in text for text in texts(pilot, "error")))
        await say(pilot, "   ")
        await pilot.press("ctrl+t")
        assert pilot.app.current_theme.dark is False
        await say(pilot, "/quit")
    assert pilot.app.return_value == Outcome()


async def test_a_gateway_that_stops_ends_the_chat_with_the_next_step(tmp_path: Path) -> None:
    with LlmServer() as server:
        octo = Octo(folder=tmp_path).with_model(server)
        with gateway(octo, papermill_command(octo, "-p", "port", "0")) as running:
            async with chatting(running.endpoint, "main") as pilot:
                running.process.terminate()
                await until(pilot, lambda: pilot.app.return_value is not None)
    outcome = pilot.app.return_value
    assert outcome is not None
    assert outcome.code == 1
    assert "octo gateway" in outcome.hint


async def test_a_gateway_that_restarts_finds_its_chat_again(tmp_path: Path) -> None:
    with LlmServer() as server:
        octo = Octo(folder=tmp_path).with_model(server)
        octo.workspace.mkdir()
        place = find_place(octo.workspace, octo.environ())
        command = papermill_command(octo, "-p", "port", "0")
        app = ChatApp(
            lambda: gateway_again(place, "main"), reopening=lambda: gateway_again(place, "main")
        )
        with gateway(octo, command) as running:
            async with app.run_test(size=(160, 40)) as pilot:
                await until(pilot, lambda: "gateway" in status(app))
                await say(pilot, "before")
                await until(pilot, lambda: answers(pilot) == ["echo: before"])
                await anyio.to_thread.run_sync(running.stop, signal.SIGTERM)
                await until(pilot, lambda: "trying again" in status(app))
                app.query_one(PromptArea).insert("typed meanwhile")
                with gateway(octo, command):
                    await until(pilot, lambda: "process" in status(app))
                    assert app.query_one(PromptArea).text == "typed meanwhile"
                    await pilot.press("enter")
                    answered = ["echo: before", "echo: typed meanwhile"]
                    await until(pilot, lambda: answers(pilot) == answered)


async def test_a_runtime_that_cannot_start_ends_the_chat_with_the_next_step(
    tmp_path: Path,
) -> None:
    (tmp_path / "octo_lab.db").write_bytes(b"no database" * 1000)
    settings = Settings(local=LocalSettings(detect=False))
    setup = Setup(settings=settings, workspace=tmp_path, data_folder=tmp_path, environ={})
    app = ChatApp(lambda: open_local(setup, "main"))
    async with app.run_test() as pilot:
        await until(pilot, lambda: app.return_value is not None)
    assert app.return_value is not None
    assert app.return_value.code == 1
    assert "octo_lab.db" in app.return_value.error
    assert app.return_value.hint


async def test_a_bug_is_one_line_without_local_variables() -> None:
    def broken() -> AbstractAsyncContextManager[RemoteConversation]:
        raise LookupError("lost")

    app = ChatApp(broken)
    with pytest.raises(WorkerFailed, match="lost"):
        async with app.run_test() as pilot:
            await until(pilot, lambda: app.return_value is not None)
    assert app.return_value is not None
    assert app.return_value.code == 1
    assert "lost" in app.return_value.error


@pytest.mark.skipif(shutil.which("tmux") is None, reason="tmux is not installed")
def test_the_real_command_in_a_real_terminal(octo: Octo, endpoint: Endpoint) -> None:
    assert find_gateway(octo.data) == endpoint
    name = f"octo-{uuid4().hex}"
    tmux = ["tmux", "-L", name]
    octo.workspace.mkdir(exist_ok=True)
    subprocess.run(
        [*tmux, "new-session", "-d", "-x", "100", "-y", "30", *OCTO, "chat", "-s", "tmux"],
        cwd=octo.workspace,
        env={**octo.environ(), "TERM": "xterm-256color", "LANG": "C.UTF-8"},
        check=True,
    )
    try:
        assert "gateway 127.0.0.1" in screen(tmux, "gateway 127.0.0.1")
        subprocess.run([*tmux, "send-keys", "hello there", "Enter"], check=True)
        shown = screen(tmux, "echo: hello there")
        assert "> hello there" in shown
        assert "tmux · openai" in shown
    finally:
        subprocess.run([*tmux, "kill-server"], check=False)


def screen(tmux: list[str], wanted: str) -> str:
    deadline = time.monotonic() + 30
    shown = ""
    while wanted not in shown:
        assert time.monotonic() < deadline, shown
        time.sleep(0.2)
        command = [*tmux, "capture-pane", "-p"]
        shown = subprocess.run(command, capture_output=True, text=True, check=False).stdout
    return shown


async def test_what_nobody_heard_stays_in_the_prompt(endpoint: Endpoint, chat_id: str) -> None:
    reachable = anyio.Event()

    @asynccontextmanager
    async def opening() -> AsyncGenerator[RemoteConversation]:
        await reachable.wait()
        async with open_remote(endpoint, chat_id) as conversation:
            yield conversation

    app = ChatApp(opening, AskOptions())
    async with app.run_test(size=(100, 40)) as pilot:
        await say(pilot, "typed early")
        await until(
            pilot,
            lambda: (
                texts(pilot, "error") == ["✗ Not connected yet\n  press Enter again in a moment"]
            ),
        )
        assert app.query_one(PromptArea).text == "typed early"
        reachable.set()
        await until(pilot, lambda: "gateway" in status(app))
        await pilot.press("enter")
        await until(pilot, lambda: answers(pilot) == ["echo: typed early"])
        assert app.query_one(PromptArea).text == ""
