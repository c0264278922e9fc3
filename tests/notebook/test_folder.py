"""No tool moves the kernel: its current folder is the notebook's own."""

from __future__ import annotations

from typing import Any

import pytest

from octo_lab.testing.llm_script import Call, call, calls, says
from octo_lab.testing.llm_server import LlmServer
from tests.notebook.kernels import Kernel

pytestmark = pytest.mark.kernel

WATCH = """
import os, threading, time
home, seen, over = os.getcwd(), {os.getcwd()}, threading.Event()
def watch():
    while not over.wait(0.001):
        seen.add(os.getcwd())
watcher = threading.Thread(target=watch)
watcher.start()
"""
DIFF = "--- a/sub/a.txt\n+++ b/sub/a.txt\n@@ -1 +1 @@\n-two\n+three\n"
TOOLS: tuple[tuple[str, dict[str, Any], str], ...] = (
    ("write_file", {"path": "sub/a.txt", "content": "one\n"}, "sub/a.txt"),
    ("edit_file", {"path": "sub/a.txt", "old_string": "one", "new_string": "two"}, "sub/a.txt"),
    ("diff_edit", {"path": "sub/a.txt", "diff": DIFF}, "sub/a.txt"),
    ("read_file", {"path": "sub/a.txt"}, "three"),
    ("list_dir", {"path": "sub"}, "a.txt"),
    ("glob", {"pattern": "sub/*.txt"}, "sub/a.txt"),
    ("grep", {"pattern": "three", "path": "sub"}, "three"),
    ("code_structure", {"path": "sub"}, ""),
    ("shell", {"command": "cd sub && pwd && git init -q ."}, "/sub"),
    ("exec_session", {"action": "start", "command": "cd sub; pwd"}, "/sub"),
    ("git", {"action": "status"}, ""),
)


def results(model: LlmServer) -> list[str]:
    return [m["content"] for m in model.requests[-1].body["messages"] if m["role"] == "tool"]


def made(number: int, name: str, arguments: dict[str, Any]) -> Call:
    return call(name, id=f"call_{number}", **arguments)


def test_no_tool_changes_the_current_folder(octo: Kernel, model: LlmServer) -> None:
    octo.run(WATCH)
    for number, (name, arguments, _) in enumerate(TOOLS):
        model.script(calls(made(number, name, arguments)), says("ok"))
        octo.run("%octo go", answer=lambda prompt: "y")
        assert TOOLS[number][2] in results(model)[-1], (name, results(model)[-1])

    ran = octo.run("over.set(); watcher.join(); seen == {home}, len(seen)")
    assert ran.value == "(True, 1)"
