from __future__ import annotations

import time
from pathlib import Path

import pytest

from octo_lab.testing.llm_script import call, calls, says
from octo_lab.testing.llm_server import LlmServer
from tests.notebook.kernels import PLAIN, Kernel, kernel, with_model

pytestmark = pytest.mark.kernel

SLOW = says(*(f"word{n} " for n in range(500)), delay=0.05)


def history(octo: Kernel) -> list[str]:
    """The prompts of the current dialog, as the next request would carry them."""
    code = "from octo_lab.core.mail import GetHistory\n"
    code += "[t.prompt for t in get_ipython().octo.face.control(GetHistory()).turns]"
    return list(eval(octo.run(code).value))


def new_dialog(octo: Kernel) -> None:
    octo.run("%octo /new")


def test_a_rerun_replaces_the_turn_of_its_cell_and_what_followed(octo: Kernel) -> None:
    new_dialog(octo)
    octo.run("%octo one", cell="a")
    octo.run("%octo two", cell="b")
    octo.run("%octo three", cell="c")
    assert history(octo) == ["one", "two", "three"]
    octo.run("%octo TWO", cell="b")
    assert history(octo) == ["one", "TWO"]
    octo.run("%octo --append two again", cell="b")
    assert history(octo) == ["one", "TWO", "two again"]


def test_a_rerun_says_how_many_later_turns_left(octo: Kernel) -> None:
    new_dialog(octo)
    for cell in "abc":
        octo.run(f"%octo {cell}", cell=cell)
    assert "left this conversation" not in octo.run("%octo c", cell="c").value
    two = "2 later turns left this conversation; `/sessions all` keeps them"
    assert two in octo.run("%octo a", cell="a").value
    assert "left this conversation" not in octo.run("%octo a", cell="a").value
    octo.run("%octo b", cell="b")
    one = "1 later turn left this conversation; `/sessions all` keeps it"
    assert one in octo.run("%octo a", cell="a").value


def test_a_rerun_of_a_cell_that_asks_more_than_once_says_nothing_left(octo: Kernel) -> None:
    new_dialog(octo)
    cell = "for n in range(3):\n    %octo ask {{ n }}"
    assert octo.run(cell, cell="loop").status == "ok"
    assert "left this conversation" not in octo.run(cell, cell="loop").everything


def test_every_ask_of_one_cell_has_its_own_place(octo: Kernel) -> None:
    new_dialog(octo)
    cell = "for n in range(3):\n    %octo ask {{ n }}"
    octo.run(cell, cell="loop")
    assert history(octo) == ["ask 0", "ask 1", "ask 2"]
    octo.run(cell, cell="loop")
    assert history(octo) == ["ask 0", "ask 1", "ask 2"]


def test_without_cell_ids_a_headless_run_begins_a_dialog_once(
    model: LlmServer, tmp_path: Path
) -> None:
    for _ in range(2):
        with kernel(tmp_path, with_model(model)) as octo:
            octo.run("%octo one", stdin=False)
            octo.run("%octo two", stdin=False)
            assert history(octo) == ["one", "two"]


def test_a_dialog_goes_on_after_a_restart_of_the_kernel(model: LlmServer, tmp_path: Path) -> None:
    notebook = {"JPY_SESSION_NAME": str(tmp_path / "my.ipynb")}
    for prompt in ("before", "after"):
        with kernel(tmp_path, with_model(model, **notebook)) as octo:
            octo.run(f"%octo {prompt}", cell=prompt)
            prompts = history(octo)
    assert prompts == ["before", "after"]


@pytest.mark.parametrize("form", ["awaited", "blocking"])
def test_an_interrupt_stops_the_turn_and_keeps_its_beginning(
    octo: Kernel, model: LlmServer, form: str
) -> None:
    model.script(SLOW)
    seen = len(model.disconnects)
    octo.run("after = 0")
    cells = {"awaited": "%octo tell", "blocking": "def f():\n    %octo tell\nf()"}
    sent = octo.send(cells[form])
    assert model.wait_until(lambda: "tell" in str(model.requests[-1].body["messages"][-1]))
    time.sleep(1.0)
    octo.interrupt()
    interrupted = time.perf_counter()
    ran = octo.collect(sent, wait=10)
    assert model.wait_until(lambda: len(model.disconnects) > seen)
    assert model.disconnects[-1].at - interrupted < 1.0
    assert "word3" in ran.value
    assert "word499" not in ran.value
    assert "Traceback" not in ran.everything
    assert octo.run("1 + 1").value == "2"
    state = octo.run(
        "from octo_lab.core.mail import GetHistory\n"
        "t = get_ipython().octo.face.control(GetHistory()).turns[-1]\n"
        "t.state, 'word3' in t.text"
    )
    assert state.value == "('cancelled', True)"


def test_an_interrupt_ends_the_rest_of_the_cell(octo: Kernel, model: LlmServer) -> None:
    model.script(SLOW)
    octo.run("after = 0")
    sent = octo.send("%octo tell\nafter = 1")
    time.sleep(1.0)
    octo.interrupt()
    ran = octo.collect(sent, wait=10)
    assert (ran.status, octo.run("after").value) == ("error", "0")
    assert ran.error == "Interrupted: the turn was stopped, what it said so far is kept."


def test_other_awaits_are_interrupted_at_once(octo: Kernel) -> None:
    sent = octo.send("import asyncio\nawait asyncio.sleep(30)")
    time.sleep(0.5)
    octo.interrupt()
    assert octo.collect(sent, wait=5).status == "error"


def test_a_background_turn_arrives_in_its_own_cell(octo: Kernel, model: LlmServer) -> None:
    model.script(says(*["slow "] * 20, delay=0.05))
    sent = octo.send("turn = %octo --bg slowly")
    ran = octo.collect(sent, wait=5)
    assert ran.status == "ok"
    waited = octo.run("print(turn.state)\nawait turn\nprint(turn.state, turn.text.count('slow'))")
    assert waited.printed.split() == ["running", "completed", "20"]
    assert not waited.of("update_display_data")


def test_an_interrupt_of_an_awaited_background_turn_ends_it_in_one_line(
    octo: Kernel, model: LlmServer
) -> None:
    model.script(SLOW)
    octo.run("later = 0\nturn = %octo --bg slowly")
    sent = octo.send("await turn\nlater = 1")
    time.sleep(1.0)
    octo.interrupt()
    ran = octo.collect(sent, wait=10)
    assert (ran.status, ran.error) == (
        "error",
        "Interrupted: the turn was stopped, what it said so far is kept.",
    )
    assert octo.run("print(turn.state, later, turn.text[:5])").printed.split() == [
        *["cancelled", "0", "word0"]
    ]
    assert octo.run("print((await turn).state)").printed == "cancelled\n"


def test_a_timeout_of_an_awaited_background_turn_stops_it(octo: Kernel, model: LlmServer) -> None:
    model.script(SLOW)
    octo.run("import asyncio\nturn = %octo --bg slowly")
    ran = octo.run(
        "try:\n    await asyncio.wait_for(turn, 0.5)\n"
        "except TimeoutError:\n    print('late', turn.state)"
    )
    assert (ran.status, ran.printed) == ("ok", "late cancelled\n")


def test_queued_cells_run_once_and_in_order(octo: Kernel) -> None:
    octo.run("order = []")
    cells = ["order.append(1)", "%octo hi", "order.append(2)", "%octo ho", "order.append(3)"]
    for sent in [octo.send(cell) for cell in cells]:
        assert octo.collect(sent).status == "ok"
    assert octo.run("order").value == "[1, 2, 3]"


def test_headless_shows_one_final_output(octo: Kernel, model: LlmServer) -> None:
    model.script(says(*["word "] * 50, delay=0.01))
    ran = octo.run("%octo hi", stdin=False)
    assert [o["header"]["msg_type"] for o in ran.outputs] == ["display_data"]


def test_a_function_of_the_notebook_is_a_tool(octo: Kernel, model: LlmServer) -> None:
    octo.run(
        "import octo_lab as ol, asyncio, threading\n"
        "loop = asyncio.get_running_loop()\n"
        "@ol.tool\n"
        "def add(a: int, b: int = 1) -> int:\n"
        "    'Add two numbers.'\n"
        "    assert threading.current_thread() is threading.main_thread()\n"
        "    return a + b\n"
        "@ol.tool(name='later')\n"
        "async def wait(x: str) -> str:\n"
        "    'Wait.'\n"
        "    assert asyncio.get_running_loop() is loop\n"
        "    await asyncio.sleep(0.01)\n"
        "    return x * 2"
    )
    made = calls(call("add", a=40, b=2), call("later", x="ab", id="call_2"))
    for cell in ("%octo go", "def f():\n    %octo go\nf()"):
        model.script(made, says("done"))
        octo.run(cell, stdin=False)
        tools = [m["content"] for m in model.requests[-1].body["messages"] if m["role"] == "tool"]
        assert tools[-2:] == ["42", "abab"]


def test_ask_blocks_or_is_awaited_and_gives_the_turn(octo: Kernel) -> None:
    octo.run("import octo_lab as ol")
    assert octo.run("ol.ask('one {n}', quiet=True).text").value == "'echo: one {n}'"
    assert octo.run("(await ol.ask_async('two', quiet=True)).text").value == "'echo: two'"
    assert octo.run("ol.sessions().columns[0]").value == "'title'"
    assert "There is nothing to ask" in octo.run("ol.ask('  ')").error
    assert "did you mean 'model'?" in octo.run("ol.ask('x', modle='y')").error


def test_a_failed_turn_is_one_clear_message(octo: Kernel, model: LlmServer) -> None:
    model.models = ("gpt-4o",)
    ran = octo.run("turn = %octo -m openai/none hi")
    model.models = ()
    assert "Traceback" not in ran.everything
    assert "does not exist" in ran.everything
    assert octo.run("turn.state").value == "'failed'"


def test_the_extension_loads_in_a_plain_kernel_again_and_again(
    model: LlmServer, tmp_path: Path
) -> None:
    with kernel(tmp_path, with_model(model), argv=PLAIN) as plain:
        for load in ("%load_ext octo_lab", "%load_ext octo_lab", "%reload_ext octo_lab"):
            assert "rror" not in plain.run(load).everything
        assert "echo: is it so?" in plain.run("%octo is it so?").value
        model.script(SLOW)
        sent = plain.send("%octo tell")
        time.sleep(1.5)
        plain.interrupt()
        began = time.perf_counter()
        assert "Traceback" not in plain.collect(sent, wait=10).everything
        assert time.perf_counter() - began < 2.0
        plain.run("%unload_ext octo_lab")
        assert "not found" in plain.run("%octo hi").everything
        plain.run("%load_ext octo_lab")
        assert "echo: hi" in plain.run("%octo hi").value


def test_starting_prints_nothing_and_defines_nothing(tmp_path: Path) -> None:
    with kernel(tmp_path) as octo:
        names = "[n for n in dir() if not n.startswith('_')]"
        assert octo.run(names).value == "['In', 'Out', 'exit', 'get_ipython', 'open', 'quit']"
        heavy = "[m for m in ('anyio', 'httpx', 'sqlalchemy', 'pydantic', 'pandas')"
        assert octo.run(f"import sys\n{heavy} if m in sys.modules]").value == "[]"


def test_an_interrupt_ends_what_is_queued_behind_the_cell_too(
    octo: Kernel, model: LlmServer
) -> None:
    model.script(SLOW)
    octo.run("queued = 0")
    sent = [octo.send("%octo tell"), octo.send("queued = 1")]
    time.sleep(1.0)
    octo.interrupt()
    assert octo.collect(sent[0], wait=10).status == "ok"
    assert octo.collect(sent[1], wait=10).status == "aborted"
    assert octo.run("queued").value == "0"


@pytest.mark.parametrize(
    "cell",
    [
        "%time %octo nested one",
        "%%time\n%octo nested one",
        "%%capture\n%octo nested one",
        "get_ipython().run_cell('%octo nested one')",
        "get_ipython().run_line_magic('octo', 'nested one')",
        "exec(get_ipython().transform_cell('%octo nested one'))",
        "[get_ipython().run_line_magic('octo', 'nested one') for _ in range(1)]",
        "async def f():\n    %octo nested one\nawait f()",
        "class C:\n    x = get_ipython().run_line_magic('octo', 'nested one')",
    ],
)
def test_the_magic_works_wherever_code_can_stand(octo: Kernel, model: LlmServer, cell: str) -> None:
    asked = len(model.requests)
    ran = octo.run(cell, wait=10)
    assert ran.status == "ok", ran.everything
    assert len(model.requests) == asked + 1
    assert model.requests[-1].body["messages"][-1]["content"] == "nested one"


def test_loading_the_extension_prints_the_same_in_both_kernels(
    octo: Kernel, tmp_path: Path
) -> None:
    with kernel(tmp_path, argv=PLAIN) as plain:
        said = [k.run("%load_ext octo_lab").everything for k in (octo, plain)]
    assert said == ["", ""]


def test_the_body_of_another_cell_magic_is_left_as_it_is(octo: Kernel, tmp_path: Path) -> None:
    text = "a\n%octo b\nx = %octo what?\n"
    file = tmp_path / "notes.md"
    octo.run(f"%%writefile {file}\n{text}")
    assert file.read_text() == text


@pytest.mark.parametrize("code", ["%time %octo once", "%%time\n%octo once", "%prun -q %octo once"])
def test_a_turn_inside_another_magic_is_shown_once(octo: Kernel, code: str) -> None:
    ran = octo.run(code)
    assert ran.everything.count("echo: once") == 1


def test_a_prompt_that_is_no_text_is_refused_in_one_line(octo: Kernel) -> None:
    ran = octo.run("import octo_lab as ol\nol.ask(5)")
    assert ran.error == "octo: A prompt is text, not int (ask(str(value)))"
