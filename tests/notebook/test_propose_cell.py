"""The agent proposes cells, in a real kernel whose front end is played by the test."""

from __future__ import annotations

from typing import Any

import anyio
import pytest

from octo_lab.core.mail import AnswerProposal
from octo_lab.core.replies import Told
from octo_lab.notebook.proposals import Proposals
from octo_lab.testing.llm_script import call, calls, says
from octo_lab.testing.llm_server import LlmServer
from tests.notebook.kernels import Kernel, Ran

CODE = "total = prices.sum()\ntotal"


@pytest.mark.anyio
async def test_the_first_answer_to_a_proposal_counts() -> None:
    proposals = Proposals()
    heard: list[AnswerProposal | None] = []

    async def ask() -> None:
        heard.append(await proposals.ask("c"))

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(ask)
        await anyio.wait_all_tasks_blocked()
        shown = await proposals.take(AnswerProposal(call_id="c", answer="shown"))
        taken = await proposals.take(AnswerProposal(call_id="c", answer="inserted", code="x"))
        late = await proposals.take(AnswerProposal(call_id="c", answer="dismissed"))
    assert heard == [AnswerProposal(call_id="c", answer="inserted", code="x")]
    assert (shown, taken) == (Told(text="shown"), Told(text="inserted"))
    assert late == Told(text="This proposal was answered already.", failed=True)
    assert (await proposals.take(AnswerProposal(call_id="c", answer="ran"))).failed


@pytest.mark.anyio
async def test_a_proposal_that_nobody_sees_or_answers_waits_no_longer_than_it_must() -> None:
    unseen, unanswered = Proposals(0.01), Proposals(10, 0.01)
    heard: list[AnswerProposal | None] = []

    async def ask() -> None:
        heard.append(await unanswered.ask("c"))

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(ask)
        await anyio.wait_all_tasks_blocked()
        await unanswered.take(AnswerProposal(call_id="c", answer="shown"))
    assert await unseen.ask("c") is None
    assert heard == [AnswerProposal(call_id="c", answer="shown")]


def told(model: LlmServer) -> str:
    messages = model.requests[-1].body["messages"]
    return str([m["content"] for m in messages if m["role"] == "tool"][-1])


def propose(octo: Kernel, model: LlmServer, **more: Any) -> Ran:
    arguments = {"code": CODE, **more.pop("arguments", {})}
    model.script(calls(call("propose_cell", **arguments)), says("done"))
    return octo.run("%octo -t propose_cell go", **more)


def answering(octo: Kernel, *answers: dict[str, Any]) -> Any:
    """Plays the view of the turn: greets the kernel, then answers the proposal."""
    state: dict[str, Any] = {"model": "", "sent": False}

    def send(content: dict[str, Any]) -> None:
        data = {"method": "custom", "content": content}
        message = octo.client.session.msg("comm_msg", {"comm_id": state["model"], "data": data})
        octo.client.shell_channel.send(message)

    def hear(message: dict[str, Any]) -> None:
        content = message["content"]
        view = content.get("data", {}).get("application/vnd.jupyter.widget-view+json")
        if view and not state["model"]:
            state["model"] = view["model_id"]
            send({"type": "hello"})
        frame = str(content.get("data", {}).get("content", ""))
        if "propose_cell" in frame and "'running'" in frame and not state["sent"]:
            state["sent"] = True
            for number, answer in enumerate(answers):
                args = {"call_id": "call_1", **answer}
                send({"type": "control", "id": str(number), "name": "propose", "args": args})

    return hear


@pytest.mark.kernel
@pytest.mark.parametrize(
    ("arguments", "answer", "said"),
    [
        (
            {},
            {"answer": "inserted", "code": CODE},
            "The person accepted it: it is in a new cell, and has not run.",
        ),
        (
            {"action": "edit", "cell": "@cell1"},
            {"answer": "ran", "code": CODE},
            "The person accepted it: it is in @cell1 and runs as soon as the kernel is free.",
        ),
        (
            {"action": "edit"},
            {"answer": "inserted", "code": "total = 1"},
            "The person accepted it: it is in the cell that asked, and has not run.\n"
            "They changed it first:\ntotal = 1",
        ),
        (
            {},
            {"answer": "dismissed"},
            "The person dismissed it. Do not propose the same again.",
        ),
        ({}, {"answer": "copied"}, "The person copied the code; no cell was changed."),
    ],
)
def test_what_the_person_does_with_a_cell_is_the_result(
    octo: Kernel,
    model: LlmServer,
    arguments: dict[str, Any],
    answer: dict[str, Any],
    said: str,
) -> None:
    seen = {"answer": "shown"}
    ran = propose(octo, model, arguments=arguments, on_output=answering(octo, seen, answer))
    assert told(model) == said
    assert ran.reply["payload"] == []
    assert "NameError" in octo.run("total").error


@pytest.mark.kernel
def test_where_the_face_cannot_insert_the_cell_comes_as_the_next_input(
    octo: Kernel, model: LlmServer
) -> None:
    answers = {"answer": "shown"}, {"answer": "put", "code": CODE}
    ran = propose(octo, model, on_output=answering(octo, *answers))
    assert told(model).startswith("It is put into a new cell below when this one ends")
    assert ran.reply["payload"] == [{"source": "set_next_input", "text": CODE, "replace": False}]


@pytest.mark.kernel
def test_without_buttons_the_cell_comes_as_the_next_input(octo: Kernel, model: LlmServer) -> None:
    ran = propose(octo, model, arguments={"action": "edit"})
    assert ran.reply["payload"] == [{"source": "set_next_input", "text": CODE, "replace": False}]


@pytest.mark.kernel
def test_headless_the_code_is_shown_only(octo: Kernel, model: LlmServer) -> None:
    ran = propose(octo, model, stdin=False)
    data = ran.outputs[-1]["content"]["data"]
    assert told(model).startswith("Shown only")
    assert ran.reply["payload"] == []
    assert f"```python\n{CODE}\n```" in data["text/markdown"]
    assert "  total = prices.sum()\n  total\n" in data["text/plain"]
    assert 'octo-tool octo-ok" open' in data["text/html"]


@pytest.mark.kernel
@pytest.mark.parametrize("cell", ["@cell0", "@cell9999", "sales", "In[x]"])
def test_a_cell_that_does_not_exist_is_an_error(octo: Kernel, model: LlmServer, cell: str) -> None:
    propose(octo, model, arguments={"cell": cell}, stdin=False)
    assert f"There is no cell {cell!r}" in told(model)


@pytest.mark.kernel
def test_an_interrupt_ends_the_wait_for_the_person(octo: Kernel, model: LlmServer) -> None:
    hear = answering(octo, {"answer": "shown"})

    def hear_and_interrupt(message: dict[str, Any]) -> None:
        hear(message)
        frame = str(message["content"].get("data", {}).get("content", ""))
        if "propose_cell" in frame and "'running'" in frame:
            octo.interrupt()

    ran = propose(octo, model, on_output=hear_and_interrupt, wait=20)
    assert "Stopped" in ran.value
    model.forget()
    assert "echo: again" in octo.run("%octo again").value


@pytest.mark.kernel
def test_a_call_that_blocks_the_kernel_has_no_buttons_and_the_cell_comes_next(
    octo: Kernel, model: LlmServer
) -> None:
    model.script(calls(call("propose_cell", code=CODE)), says("done"))
    ran = octo.run("def f():\n    %octo -t propose_cell go\nf()")
    assert [payload["text"] for payload in ran.reply["payload"]] == [CODE]
