from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import anyio
import pytest

from octo_lab.core.errors import ToolDenied
from octo_lab.core.events import (
    ApprovalAsked,
    ApprovalSettled,
    Decision,
    Noticed,
    TurnEvent,
)
from octo_lab.core.keys import ChatAddress
from octo_lab.core.messages import ToolCall
from octo_lab.session.approvals import ApprovalDesk, ApprovalPolicy, Asker, TurnApprover
from octo_lab.tools.tool import Question
from octo_lab.tools.verdict import Verdict

pytestmark = pytest.mark.anyio

HERE = ChatAddress(channel="memory", chat_id="1")
QUESTION = Question(
    call=ToolCall(id="c1", name="python", arguments="{}"),
    scope="python",
    detail="print(1)",
    risk="execute",
)


class Turn:
    """A turn that asks, with somebody who answers what it shows."""

    def __init__(
        self, desk: ApprovalDesk, session: str = "s", *, channel: str = "memory", **asker: Any
    ) -> None:
        self.events: list[TurnEvent] = []
        self.decide: Callable[[str], object] = lambda approval_id: None
        facts: dict[str, Any] = {"attended": True, **asker}
        self.approver = TurnApprover(
            desk,
            Asker(address=replace(HERE, channel=channel), session=session, emit=self.emit, **facts),
        )

    def emit(self, event: TurnEvent) -> None:
        self.events.append(event)
        if isinstance(event, ApprovalAsked):
            self.decide(event.approval_id)

    @property
    def asked(self) -> int:
        return sum(isinstance(event, ApprovalAsked) for event in self.events)


def answering(desk: ApprovalDesk, turn: Turn, decision: Decision) -> None:
    turn.decide = lambda approval_id: desk.settle(HERE, approval_id, decision)


async def test_the_person_decides() -> None:
    desk = ApprovalDesk(ApprovalPolicy())
    turn = Turn(desk)
    answering(desk, turn, "once")

    assert await turn.approver.approve(QUESTION) == "once"
    assert await turn.approver.approve(QUESTION) == "once"
    [asked, settled, *_] = turn.events
    assert isinstance(asked, ApprovalAsked)
    assert settled == ApprovalSettled(asked.approval_id, "c1", "once")
    assert turn.asked == 2


async def test_a_grant_for_the_session_holds_in_its_next_turns_only() -> None:
    desk = ApprovalDesk(ApprovalPolicy())
    first, second, other = Turn(desk), Turn(desk), Turn(desk, "other")
    answering(desk, first, "session")
    answering(desk, other, "deny")

    assert await first.approver.approve(QUESTION) == "session"
    assert await second.approver.approve(QUESTION) == "session"
    assert await other.approver.approve(QUESTION) == "deny"
    assert (second.asked, other.asked) == (0, 1)


async def test_a_forgotten_session_asks_again() -> None:
    desk = ApprovalDesk(ApprovalPolicy())
    turn = Turn(desk)
    answering(desk, turn, "session")
    await turn.approver.approve(QUESTION)
    desk.forget("s")
    await turn.approver.approve(QUESTION)

    assert turn.asked == 2


async def test_calls_that_come_together_ask_once_for_the_session() -> None:
    desk = ApprovalDesk(ApprovalPolicy())
    turn = Turn(desk)
    ids: list[str] = []
    turn.decide = ids.append
    async with anyio.create_task_group() as tasks:
        for _ in range(3):
            tasks.start_soon(turn.approver.approve, QUESTION)
        await anyio.wait_all_tasks_blocked()
        desk.settle(HERE, ids[0], "session")

    assert turn.asked == 1


async def test_no_answer_in_time_is_a_no() -> None:
    turn = Turn(ApprovalDesk(ApprovalPolicy(seconds=0.01)))

    assert await turn.approver.approve(QUESTION) == "deny"
    assert Noticed("Nobody answered within 0.01 s: denied.") in turn.events


async def test_an_answer_counts_once_and_only_from_the_same_chat() -> None:
    desk = ApprovalDesk(ApprovalPolicy())
    turn = Turn(desk)
    elsewhere = ChatAddress(channel="memory", chat_id="2")
    counted: list[bool] = []

    def decide(approval_id: str) -> None:
        counted.append(desk.settle(elsewhere, approval_id, "once"))
        counted.append(desk.settle(HERE, approval_id, "deny"))
        counted.append(desk.settle(HERE, approval_id, "once"))

    turn.decide = decide

    assert await turn.approver.approve(QUESTION) == "deny"
    assert counted == [False, True, False]
    assert not desk.settle(HERE, "unknown", "once")


async def test_in_a_chat_with_others_only_who_was_asked_answers_and_never_for_always() -> None:
    desk = ApprovalDesk(ApprovalPolicy())
    turn = Turn(desk, sender="ann")
    counted: list[bool] = []

    def decide(approval_id: str) -> None:
        answers: list[tuple[Decision, str]] = [
            ("once", "eve"), ("once", ""), ("always", "ann"), ("once", "ann"),
        ]  # fmt: skip
        for decision, sender in answers:
            counted.append(desk.settle(HERE, approval_id, decision, sender=sender))

    turn.decide = decide

    assert await turn.approver.approve(QUESTION) == "once"
    assert counted == [False, False, False, True]
    assert desk.scopes("s") == frozenset()


async def test_settings_decide_without_asking() -> None:
    allowed = Turn(ApprovalDesk(ApprovalPolicy(rules={"python": "allow"})))
    denied = Turn(ApprovalDesk(ApprovalPolicy(rules={"python": "deny"})))

    assert await allowed.approver.approve(QUESTION) == "once"
    with pytest.raises(ToolDenied, match="the settings deny it"):
        await denied.approver.approve(QUESTION)
    assert (allowed.asked, denied.asked) == (0, 0)


async def test_where_nobody_can_be_asked_the_answer_is_no_with_the_way_to_a_yes() -> None:
    turn = Turn(ApprovalDesk(ApprovalPolicy(rules={"python": "ask"})), attended=False)
    other = Turn(ApprovalDesk(ApprovalPolicy()), attended=False)

    for asking in (turn, other):
        with pytest.raises(ToolDenied, match="nobody can be asked here"):
            await asking.approver.approve(QUESTION)
    way = "'python' was denied: nobody can be asked here. To allow it, name it in the question: "
    assert other.events == [Noticed(f"{way}--tools python.")]
    assert turn.events == [
        Noticed(f'{way}--tools python, or set tools.python to "allow" in .octo/config.json.')
    ]


async def test_the_way_to_a_yes_for_a_call_is_a_line_to_say_before() -> None:
    judged = Verdict("ask", "it removes")
    one = replace(QUESTION, scope="shell: rm -r 'a  b'", scopes=("shell: rm -r 'a  b'",))
    two = replace(QUESTION, scope="shell: a, shell: b", scopes=("shell: a", "shell: b"))
    ways = {
        (one, "memory"): "say `/allow always shell: rm -r 'a  b'` first",
        (two, "memory"): "say `/allow always shell: a` and `/allow always shell: b` first",
        (one, "notebook"): "say `%octo /allow always shell: rm -r 'a  b'` first",
        (one, "terminal"): "say `octo run "
        """'/allow always shell: rm -r '"'"'a  b'"'"''` first""",
        (replace(one, why="it is private"), "terminal"): "ask where somebody can answer, "
        "or begin a new session",
        (replace(one, why="it is private", hosts=("a.org",)), "terminal"): "ask where somebody "
        "can answer, name hosts you trust in security.trusted_hosts, or begin a new session",
    }

    for (question, channel), way in ways.items():
        turn = Turn(ApprovalDesk(ApprovalPolicy()), channel=channel, attended=False)
        with pytest.raises(ToolDenied):
            await turn.approver.approve(replace(question, judged=judged))
        doubt = question.why or "it removes"
        said = f"'python' was denied: nobody can be asked here: {doubt}. To allow it, {way}."
        assert turn.events == [Noticed(said)]


async def test_a_tool_named_for_the_turn_is_allowed_where_nobody_can_be_asked() -> None:
    turn = Turn(ApprovalDesk(ApprovalPolicy()), attended=False, named=frozenset({"python"}))

    assert await turn.approver.approve(QUESTION) == "once"


async def test_a_stopped_turn_leaves_no_open_question() -> None:
    desk = ApprovalDesk(ApprovalPolicy())
    turn = Turn(desk)
    ids: list[str] = []
    turn.decide = ids.append
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(turn.approver.approve, QUESTION)
        await anyio.wait_all_tasks_blocked()
        tasks.cancel_scope.cancel()

    assert not desk.settle(HERE, ids[0], "once")


async def test_in_a_chat_only_who_asked_answers_and_the_oldest_question_first() -> None:
    desk = ApprovalDesk(ApprovalPolicy())
    turn = Turn(desk, sender="ann")
    said: list[str] = []
    turn.decide = lambda _: said.extend(
        [
            desk.answer(HERE, "bob", "once"),
            desk.answer(ChatAddress(channel="memory", chat_id="2"), "ann", "once"),
            desk.answer(HERE, "ann", "session"),
            desk.answer(HERE, "ann", "once"),
        ]
    )

    assert await turn.approver.approve(QUESTION) == "session"
    assert said == ["", "", "python", ""]


async def test_a_second_yes_is_for_the_second_question_and_each_says_what_it_was_about() -> None:
    desk = ApprovalDesk(ApprovalPolicy())
    turn = Turn(desk)
    other = replace(QUESTION, call=replace(QUESTION.call, id="2"), scope="shell: ssh b")
    answers: list[str] = []
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(turn.approver.approve, QUESTION)
        tasks.start_soon(turn.approver.approve, other)
        await anyio.wait_all_tasks_blocked()
        answers += [desk.answer(HERE, "", decision) for decision in ("once", "deny", "once")]

    assert answers == ["python", "shell: ssh b", ""]


async def test_always_holds_in_other_sessions_too() -> None:
    desk = ApprovalDesk(ApprovalPolicy())
    first, second = Turn(desk, "a", channel="terminal"), Turn(desk, "b", channel="terminal")
    owned = replace(HERE, channel="terminal")
    first.decide = lambda approval_id: desk.settle(owned, approval_id, "always")

    decisions = [await turn.approver.approve(QUESTION) for turn in (first, second)]

    assert decisions == ["always", "session"]
    assert (second.asked, desk.standing.scopes) == (0, ("python",))


async def test_a_yes_for_a_command_covers_its_sort_alone() -> None:
    desk = ApprovalDesk(ApprovalPolicy(rules={"shell": "ask"}))
    turn = Turn(desk)
    answering(desk, turn, "session")
    fine = Verdict("allow", "fine")

    def shell(line: str, scope: str, verdict: Verdict = fine) -> Question:
        call = ToolCall(id="c", name="shell", arguments="{}")
        return Question(
            call=call,
            scope=scope,
            detail=line,
            risk="execute",
            tool="shell",
            scopes=(scope,),
            judged=verdict,
        )

    await turn.approver.approve(shell("git status", "shell: git status"))
    await turn.approver.approve(shell("git status -s", "shell: git status"))
    assert turn.asked == 1
    odd = "git -c core.pager=x status"
    await turn.approver.approve(shell(odd, f"shell: {odd}", Verdict("ask", "it sets")))
    asked = [event for event in turn.events if isinstance(event, ApprovalAsked)]
    assert [event.risk for event in asked] == [
        "execute, a yes that stays covers 'shell: git status'",
        "execute, it sets, a yes that stays covers 'shell: git -c core.pager=x status'",
    ]
    with pytest.raises(ToolDenied, match="never"):
        await turn.approver.approve(shell("rm -rf /", "shell: x", Verdict("deny", "never")))
    assert turn.asked == 2
