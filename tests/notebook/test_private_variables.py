"""Variables that a person marked as private, in a real kernel."""

from __future__ import annotations

import json
from typing import Any

import pytest
from IPython.core.interactiveshell import InteractiveShell

from octo_lab.core.errors import UsageError
from octo_lab.notebook.private_variables import PrivateVariables
from octo_lab.testing.llm_script import call, calls, says
from octo_lab.testing.llm_server import LlmServer
from tests.notebook.kernels import Kernel

PERSON = """
salary = {"ann": 4711}
same = salary
other = [1]
def total(): return sum(salary.values())
def report(): return total()
class Payroll:
    def pay(self): return salary
key_a = "k"
"""


@pytest.fixture(scope="module")
def shell() -> Any:
    made: Any = InteractiveShell
    running = made()
    running.run_cell(PERSON)
    return running


@pytest.mark.parametrize(
    ("code", "reached"),
    [
        ("print(salary)", "salary"),
        ("same.copy()", "same"),
        ("f'{salary}'", "salary"),
        ("total()", "salary"),
        ("report()", "salary"),
        ("Payroll().pay()", "salary"),
        ("globals()['sal' + 'ary']", "key_a"),
        ("%whos", "key_a"),
        ("eval('sal' + 'ary')", "key_a"),
        ("key_b = 1", "key_b"),
        ("KEY_A", "KEY_A"),
        ("other.append(2)", ""),
        ("salaries = 3", ""),
        ("1 + 1", ""),
    ],
)
def test_code_that_may_read_a_private_variable_is_known(
    shell: InteractiveShell, code: str, reached: str
) -> None:
    private = PrivateVariables(shell)
    private.mark(["salary", "key_*"])
    assert private.in_code(code) == reached


def test_without_a_mark_nothing_is_private(shell: InteractiveShell) -> None:
    private = PrivateVariables(shell)
    assert (private.in_code("globals()"), private.names()) == ("", frozenset())
    assert private.in_code("total()", ["salary"]) == "salary"
    assert private.names(["salary"]) == {"salary", "same"}


@pytest.mark.parametrize("wrong", ["", "a.b", "a b", "df['x']"])
def test_what_names_no_variable_is_refused(shell: InteractiveShell, wrong: str) -> None:
    private = PrivateVariables(shell)
    with pytest.raises(UsageError, match="names no variable"):
        private.mark(["fine", wrong])
    assert private.marked == ()


def told(model: LlmServer) -> list[str]:
    messages = model.requests[-1].body["messages"]
    return [str(m["content"]) for m in messages if m["role"] == "tool"]


@pytest.mark.kernel
def test_a_private_variable_is_listed_without_its_value(octo: Kernel, model: LlmServer) -> None:
    octo.run("import octo_lab as ol\nhidden = 'blue whale'\nplain = 'red fox'")
    marked = octo.run("ol.private('hidden')").value
    model.script(calls(call("list_variables")), says("done"))
    octo.run("%octo -t list_variables look", stdin=False)
    assert marked == "('hidden',)"
    assert "hidden: str (private)" in told(model)[-1]
    assert "plain: str = 'red fox'" in told(model)[-1]
    assert "blue whale" not in json.dumps(model.requests[-1].body)


@pytest.mark.kernel
def test_after_it_was_inspected_nothing_leaves_unasked(octo: Kernel, model: LlmServer) -> None:
    octo.run("import octo_lab as ol\nhidden = 'blue whale'\nol.private('hidden')\nran = 0")
    octo.run("%octo /new")
    model.script(
        calls(call("python", code="ran = 1")),
        calls(call("inspect", name="hidden", id="call_2")),
        calls(call("python", code="ran = 2", id="call_3")),
        says("done"),
    )
    octo.run("%octo -t python -t inspect look", stdin=False)
    free, seen, denied = told(model)[-3:]
    assert (free, octo.run("ran").value) == ("Done; no output.", "1")
    assert "blue whale" in seen
    assert "after private data was read: inspect read 'hidden'" in denied


@pytest.mark.kernel
def test_code_that_reads_it_is_asked_about_by_itself(octo: Kernel, model: LlmServer) -> None:
    octo.run("import octo_lab as ol\nhidden = 'blue whale'\nol.private('hidden')")
    octo.run("%octo /new")
    octo.run("ol.allow('python')", stdin=False)
    model.script(calls(call("python", code="print(hidden)")), says("done"))
    octo.run("%octo look", stdin=False)
    refused = told(model)[-1]
    octo.run("%octo /allow python: private variables", stdin=False)
    model.script(calls(call("python", code="print(hidden)")), says("done"))
    octo.run("%octo look again", stdin=False)
    assert "denied" in refused
    assert "blue whale" not in refused
    assert told(model)[-1] == "blue whale"


@pytest.mark.kernel
@pytest.mark.parametrize("prompt", ["what is @hidden?", "it is {{ hidden[:4] }}", "-a hidden see"])
def test_a_prompt_that_shows_it_counts_as_well(octo: Kernel, model: LlmServer, prompt: str) -> None:
    octo.run("import octo_lab as ol\nhidden = 'blue whale'\nol.private('hidden')")
    octo.run("%octo /new")
    model.script(calls(call("python", code="ran = 3")), says("done"))
    octo.run(f"%octo -t python {prompt}", stdin=False)
    assert "after private data was read: 'hidden' was given to the model" in told(model)[-1]
