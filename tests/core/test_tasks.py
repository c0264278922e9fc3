from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path

import pytest

from octo_lab.core import tasks
from octo_lab.core.errors import UsageError
from octo_lab.core.messages import Message, ToolCall
from octo_lab.core.task_json import message_json, read_message, read_task, task_json

THEN = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)
MEMORY = (
    Message(role="user", content="hi"),
    Message(role="assistant", tool_calls=(ToolCall(id="1", name="x", arguments="{}"),)),
    Message(role="tool", content="ok", tool_call_id="1"),
)
WHOLE = tasks.Task(
    id="t1",
    parent_id="t0",
    status=tasks.InProgress("a1"),
    kind=tasks.Code("fix it", (Path("a.py"),)),
    context=tasks.TaskContext(
        working_dir=Path("/w"),
        git_state=tasks.GitState(branch="main", commit="abc", dirty=True),
        working_memory=MEMORY,
        episodic_refs=("e1",),
        files_in_scope=(Path("b.py"),),
    ),
    result=tasks.TaskResult(
        success=True,
        output="done",
        files_modified=(Path("a.py"),),
        subtasks=("t2",),
        token_usage=tasks.TaskTokens(input_tokens=3, output_tokens=2),
    ),
    created_at=THEN,
    updated_at=THEN,
)
JSON = {
    "id": "t1",
    "parent_id": "t0",
    "status": {"state": "in_progress", "agent_id": "a1"},
    "kind": {"type": "code", "instruction": "fix it", "files": ["a.py"]},
    "context": {
        "working_dir": "/w",
        "git_state": {"branch": "main", "commit": "abc", "dirty": True},
        "working_memory": [
            {"role": "user", "content": "hi", "tool_calls": [], "tool_call_id": ""},
            {
                "role": "assistant",
                "content": "",
                "tool_calls": [{"id": "1", "name": "x", "arguments": "{}"}],
                "tool_call_id": "",
            },
            {"role": "tool", "content": "ok", "tool_calls": [], "tool_call_id": "1"},
        ],
        "episodic_refs": ["e1"],
        "files_in_scope": ["b.py"],
    },
    "result": {
        "success": True,
        "output": "done",
        "files_modified": ["a.py"],
        "subtasks": ["t2"],
        "token_usage": {"input_tokens": 3, "output_tokens": 2},
    },
    "created_at": "2026-01-02T03:04:05+00:00",
    "updated_at": "2026-01-02T03:04:05+00:00",
}


def test_a_task_is_written_with_its_tags_and_read_back() -> None:
    assert task_json(WHOLE) == JSON
    assert read_task(json.loads(json.dumps(JSON))) == WHOLE


@pytest.mark.parametrize(
    ("status", "written"),
    [
        (tasks.Pending(), {"state": "pending"}),
        (tasks.Blocked("waits"), {"state": "blocked", "reason": "waits"}),
        (tasks.Completed(), {"state": "completed"}),
        (tasks.Failed("broke"), {"state": "failed", "error": "broke"}),
    ],
)
def test_each_status_has_its_state(status: tasks.TaskStatus, written: object) -> None:
    message = tasks.TaskUpdate(task_id="t", status=status)

    assert message_json(message) == {"type": "task_update", "task_id": "t", "status": written}
    assert read_message(message_json(message)) == message


@pytest.mark.parametrize(
    ("kind", "written"),
    [
        (tasks.Plan("g"), {"type": "plan", "goal": "g"}),
        (tasks.Review("d"), {"type": "review", "diff": "d"}),
        (tasks.Test("c"), {"type": "test", "command": "c"}),
        (tasks.Custom("n", {"a": [1]}), {"type": "custom", "name": "n", "params": {"a": [1]}}),
    ],
)
def test_each_kind_has_its_type(kind: tasks.TaskKind, written: object) -> None:
    task = tasks.Task(kind=kind, context=tasks.TaskContext(working_dir=Path("/w")))
    message = tasks.TaskAssign(task=task)

    assert task_json(task)["kind"] == written
    assert message_json(message)["type"] == "task_assign"
    assert read_message(message_json(message)) == message


@pytest.mark.parametrize(
    ("message", "name"),
    [
        (tasks.TaskComplete(task_id="t", result=tasks.TaskResult(success=False, output="")),
         "task_complete"),
        (tasks.ContextRequest(task_id="t", query="q"), "context_request"),
        (tasks.ContextResponse(task_id="t", context=MEMORY), "context_response"),
    ],
)  # fmt: skip
def test_messages_between_agents_have_a_type(message: tasks.AgentMessage, name: str) -> None:
    assert message_json(message)["type"] == name
    assert read_message(json.loads(json.dumps(message_json(message)))) == message


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"status": {"state": "lost"}}, "task.status.state is 'lost'"),
        ({"id": 7}, "task.id is int, not str"),
        ({"more": 1}, "task has no field 'more'"),
        ({"created_at": "now"}, "task.created_at is no time: 'now'"),
        ({"context": {}}, "task.context lacks a field"),
        ({"context": [1]}, "task.context is list, not dict"),
    ],
)
def test_what_does_not_fit_is_named(change: dict[str, object], said: str) -> None:
    with pytest.raises(UsageError) as caught:
        read_task({**JSON, **change})

    assert caught.value.message == said


def test_a_new_task_waits_and_has_an_id_of_its_own() -> None:
    context = tasks.TaskContext(working_dir=Path("/w"))
    one, two = (tasks.Task(kind=tasks.Plan("g"), context=context) for _ in range(2))

    assert (one.status, one.result, one.parent_id) == (tasks.Pending(), None, None)
    assert one.id < two.id
