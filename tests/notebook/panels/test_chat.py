"""The chat panel's side in the kernel, spoken to as a view does."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

import pytest

from octo_lab.notebook.panels.widget import VIEW_MIME, is_built
from octo_lab.testing.llm_script import says
from octo_lab.testing.llm_server import LlmServer
from tests.notebook.kernels import Kernel

pytestmark = [
    pytest.mark.kernel,
    pytest.mark.timeout(120),
    pytest.mark.skipif(not is_built("chat"), reason="the front end is not built"),
]

Frame = dict[str, Any]


@dataclass
class View:
    """One view of the panel: sends messages, collects frames."""

    kernel: Kernel
    comm_id: str
    frames: list[Frame] = field(default_factory=list)

    def send(self, **message: Any) -> None:
        content = {"comm_id": self.comm_id, "data": {"method": "custom", "content": message}}
        session = self.kernel.client.session
        self.kernel.client.shell_channel.send(session.msg("comm_msg", content))

    def wait(self, wanted: Callable[[Frame], bool]) -> Frame:
        """The next frame that is wanted."""
        deadline = time.monotonic() + 30
        while time.monotonic() < deadline:
            message = self.kernel.client.get_iopub_msg(timeout=30)
            content = message["content"]
            if message["header"]["msg_type"] != "comm_msg" or content["comm_id"] != self.comm_id:
                continue
            frame = content["data"].get("content", {})
            self.frames.append(frame)
            if wanted(frame):
                found: Frame = frame
                return found
        raise TimeoutError(f"no such frame among {self.frames[-5:]}")

    def ask(self, name: str, **args: Any) -> Frame:
        """Send a control and return the reply to it."""
        ident = f"{name}-{len(self.frames)}"
        self.send(type="control", id=ident, name=name, args=args)
        reply: Frame = self.wait(lambda f: f["type"] == "reply" and f["id"] == ident)["reply"]
        return reply


@pytest.fixture
def view(octo: Kernel) -> Iterator[View]:
    ran = octo.run("import octo_lab as ol\npanel = ol.chat()\npanel._widget.view['model_id']")
    assert ran.status == "ok", ran.error
    yield View(octo, ran.value.strip("'"))
    octo.run("panel.close()")


def test_a_view_asks_and_receives_the_turn_as_frames(view: View, model: LlmServer) -> None:
    model.script(says("Hello ", "there.", delay=0.3))
    view.send(type="ask", id="ask-1", text="hi", options={})
    first = view.wait(lambda f: f["type"] == "turn")["turn"]
    assert (first["message_id"], first["prompt"], first["state"]) == ("ask-1", "hi", "running")
    last = view.wait(lambda f: f.get("state") == "completed")
    assert last["type"] == "patch"
    history = view.ask("history")
    turn = history["turns"][-1]
    assert turn["turn_id"] == first["turn_id"]
    assert turn["revision"] >= last["revision"]
    assert turn["blocks"] == [{"kind": "text", "text": "Hello there."}]


def test_a_view_that_missed_something_gets_the_whole_running_turn(
    view: View, model: LlmServer
) -> None:
    model.script(says(*["word "] * 40, delay=0.1))
    view.send(type="ask", id="ask-2", text="slowly", options={})
    turn = view.wait(lambda f: f["type"] == "turn")["turn"]
    view.wait(lambda f: f["type"] == "patch" and f["ops"] != [])
    view.send(type="whole", turn_id=turn["turn_id"])
    whole = view.wait(lambda f: f["type"] == "turn")["turn"]
    assert whole["revision"] > turn["revision"]
    assert whole["blocks"][0]["text"].startswith("word ")
    assert view.ask("stop", turn_id=turn["turn_id"])["failed"] is False
    view.wait(lambda f: f.get("state") == "cancelled")


def test_what_does_not_fit_is_answered_with_one_line(view: View) -> None:
    assert view.ask("nothing")["text"] == "No control named 'nothing'"
    reply = view.ask("settle", approval_id="a", decision="perhaps")
    assert reply["failed"] is True
    view.send(type="ask", id="ask-3", text="hi", options={"colour": "red"})
    refused = view.wait(lambda f: f["type"] == "reply" and f["id"] == "ask-3")["reply"]
    assert refused["text"] == "'ask' takes no 'colour'"


def test_commands_and_sessions_are_the_runtime_s(view: View, model: LlmServer) -> None:
    names = {command["name"].removeprefix("/") for command in view.ask("commands")["commands"]}
    assert {"new", "clear", "stop", "sessions", "switch", "help"} <= names
    assert view.ask("command", line="/new Whales")["failed"] is False
    model.script(says("Big."))
    view.send(type="ask", id="ask-4", text="whales", options={})
    view.wait(lambda f: f.get("state") == "completed")
    found = view.ask("sessions", query="Whales")["sessions"]
    assert [(s["title"], s["current"]) for s in found] == [("Whales", True)]
    view.ask("edit_session", session=found[0]["session"], title="Fish")
    [renamed] = view.ask("sessions", query="Fish")["sessions"]
    assert (renamed["title"], renamed["session"]) == ("Fish", found[0]["session"])


def test_the_saved_output_holds_the_conversation(octo: Kernel, model: LlmServer) -> None:
    model.script(says("Kept **here**."))
    octo.run("%octo keep this")
    ran = octo.run("import octo_lab as ol\nkept = ol.chat()\nkept")
    [bundle] = [o["content"]["data"] for o in ran.of("display_data")]
    assert VIEW_MIME in bundle
    assert "> keep this\n\nKept **here**." in bundle["text/plain"]
    assert "Kept <strong>here</strong>." in bundle["text/html"]


def test_a_closed_panel_leaves_the_conversation_and_no_view(octo: Kernel, model: LlmServer) -> None:
    shown = octo.run("import octo_lab as ol\nleft = ol.chat()\nleft")
    model.script(says("Said later."))
    octo.run("%octo something later")
    sent = octo.send("left.close()\nleft.close()")
    update = shown.of("display_data")[0]
    while update["header"]["msg_type"] != "update_display_data":
        update = octo.client.get_iopub_msg(timeout=30)
    bundle = update["content"]["data"]
    assert VIEW_MIME not in bundle
    assert "Said later." in bundle["text/plain"]
    assert octo.collect(sent).status == "ok"


def test_headless_shows_the_conversation_and_no_view(octo: Kernel, model: LlmServer) -> None:
    model.script(says("For the record."))
    octo.run("%octo note this")
    ran = octo.run("import octo_lab as ol\nol.chat()", stdin=False)
    [output] = ran.outputs
    assert set(output["content"]["data"]) == {"text/plain", "text/markdown", "text/html"}
    assert "> note this\n\nFor the record." in output["content"]["data"]["text/plain"]
