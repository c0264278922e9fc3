from __future__ import annotations

import pytest

from octo_lab.testing.llm_script import call, calls, says
from octo_lab.testing.llm_server import LlmServer
from tests.notebook.kernels import Kernel

pytestmark = pytest.mark.kernel

AREA = (
    "%%octo_tool {options}\n"
    "unit = 'cm'\n"
    "def area(width: int, height: int) -> str:\n"
    "    'The area of a rectangle.'\n"
    "    return f'{{width * height}} {{unit}}2'"
)


def results(model: LlmServer) -> list[str]:
    return [m["content"] for m in model.requests[-1].body["messages"] if m["role"] == "tool"]


def test_a_cell_defines_a_tool(octo: Kernel, model: LlmServer) -> None:
    assert octo.run(AREA.format(options="")).everything == ""
    model.script(calls(call("area", width=6, height=7)), says("ok"))
    octo.run("%octo go")
    assert results(model)[-1] == "42 cm2"
    assert octo.run("area(1, 2)").value == "'2 cm2'"


def test_a_tool_cell_takes_a_name_and_a_time(octo: Kernel, model: LlmServer) -> None:
    octo.run(
        "%%octo_tool --name nap --timeout 0.2\n"
        "async def sleep() -> str:\n"
        "    'Sleep.'\n"
        "    import asyncio\n"
        "    await asyncio.sleep(30)\n"
        "    return 'awake'"
    )
    model.script(calls(call("nap")), says("ok"))
    octo.run("%octo go")
    assert "longer than 0.2 s" in results(model)[-1]


def test_the_progress_of_a_generator_is_seen(octo: Kernel, model: LlmServer) -> None:
    octo.run(
        "%%octo_tool\n"
        "def climb(steps: int):\n"
        "    'Climb.'\n"
        "    import time\n"
        "    for step in range(steps):\n"
        "        time.sleep(0.3)\n"
        "        yield f'step {step}'\n"
        "    return 'top'"
    )
    seen: list[str] = []
    model.script(calls(call("climb", steps=4)), says("ok"))
    octo.run("%octo go", on_output=lambda o: seen.append(str(o["content"])))
    assert results(model)[-1] == "top"
    assert any("step 1" in shown for shown in seen)


@pytest.mark.parametrize(
    ("cell", "told"),
    [
        ("%%octo_tool --nam x\ndef f(): ...", "%%octo_tool has no option --nam (did you mean"),
        ("%%octo_tool\nx = 1", "%%octo_tool needs a function (write a def in the cell)"),
        ("%%octo_tool area\ndef f(): ...", "%%octo_tool takes no 'area' (--name NAME)"),
        ("%%octo_tool\ndef f(*args): ...", "which a model cannot fill"),
    ],
)
def test_a_wrong_tool_cell_is_one_line(octo: Kernel, cell: str, told: str) -> None:
    ran = octo.run(cell)
    assert told in ran.printed
    assert ran.printed.count("\n") == 1
    assert not ran.of("error")


def test_an_error_in_the_cell_is_the_cells_own(octo: Kernel) -> None:
    assert "ZeroDivisionError" in octo.run("%%octo_tool\n1 / 0\ndef f(): ...").error
    assert "SyntaxError" in octo.run("%%octo_tool\ndef f(:").error
    assert "--timeout SECONDS" in octo.run("%%octo_tool --help\n1").printed
