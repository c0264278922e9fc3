from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable
from pathlib import Path

import pytest

from octo_lab.testing.llm_script import says
from octo_lab.testing.llm_server import LlmServer
from tests.notebook.kernels import PLAIN, Kernel, Ran, kernel, with_model

pytestmark = pytest.mark.kernel


def answers(ran: Ran, text: str) -> int:
    """How often a finished answer is shown: displays and results, updates in place aside."""
    displays = {
        o["content"]["transient"]["display_id"]: o["content"]["data"].get("text/plain", "")
        for o in ran.outputs
        if o["content"].get("transient", {}).get("display_id")
    }
    others = [
        o["content"]["data"].get("text/plain", "")
        for o in ran.outputs
        if "data" in o["content"] and not o["content"].get("transient", {}).get("display_id")
    ]
    return sum(text in shown for shown in [*displays.values(), *others])


def one_line(ran: Ran) -> str:
    """The cell's one error line."""
    assert ran.status == "error", ran.everything
    assert "\n" not in ran.error.strip()
    return ran.error.strip()


@pytest.mark.parametrize("argv", [None, PLAIN], ids=["octo", "load_ext"])
def test_a_mistake_in_code_is_one_line(model: LlmServer, tmp_path: Path, argv: list[str]) -> None:
    with kernel(tmp_path, with_model(model), argv=argv) as python:
        python.run("%load_ext octo_lab")
        python.run("import octo_lab as ol")
        assert one_line(python.run("ol.ask('   ')")) == (
            'octo: There is nothing to ask (ol.ask("a question"))'
        )
        assert "3 is no function" in one_line(python.run("ol.tool(3)"))
        assert "no option 'modle'" in one_line(python.run("ol.ask('x', modle='y')"))
        assert "No format named 'poem'" in one_line(python.run("ol.ask('x', format='poem')"))
        assert "'hot' is no number" in one_line(python.run("ol.ask('x', temperature='hot')"))
        model.script(says("This is no code."))
        assert "no valid Python" in one_line(python.run("ol.ask('x', format='code')"))


def corrupt(folder: Path) -> None:
    (folder / "data").mkdir()
    (folder / "data" / "octo_lab.db").write_bytes(b"garbage" * 1000)


def newer(folder: Path) -> None:
    (folder / "data").mkdir()
    with sqlite3.connect(folder / "data" / "octo_lab.db") as database:
        database.execute("create table alembic_version (version_num varchar(32) not null)")
        database.execute("insert into alembic_version values ('9999')")
    database.close()


def misspelt(folder: Path) -> None:
    (folder / ".octo").mkdir()
    (folder / ".octo" / "config.json").write_text(json.dumps({"modle": "x"}))


@pytest.mark.parametrize("spoil", [corrupt, newer, misspelt])
def test_a_runtime_that_cannot_open_is_one_line_from_every_function(
    tmp_path: Path, spoil: Callable[[Path], None]
) -> None:
    spoil(tmp_path)
    with kernel(tmp_path) as octo:
        octo.run("import octo_lab as ol")
        for code in ("ol.chat()", "ol.sessions()", "ol.status()", "ol.ask('hi')", "ol.allow('x')"):
            line = one_line(octo.run(code))
            assert line.startswith("octo: ")
            assert line.endswith(")"), "no next step"
        assert "Traceback" not in octo.run("%octo hi").everything


def test_a_command_given_to_ask_is_run_and_shown_once(octo: Kernel) -> None:
    octo.run("import octo_lab as ol")
    ran = octo.run("ol.ask('/help')")
    assert answers(ran, "/sessions") == 1
    assert octo.run("'/sessions' in (await ol.ask_async('/help')).text").value == "True"


@pytest.mark.parametrize(
    "cell",
    [
        "ol.ask('once please')",
        "await ol.ask_async('once please')",
        "%%time\n%octo once please",
        "get_ipython().run_line_magic('octo', 'once please')",
        "x = %octo once please\nx",
        "%reload_ext octo_lab\n%octo once please",
    ],
)
def test_an_answer_is_shown_once(octo: Kernel, cell: str) -> None:
    octo.run("import octo_lab as ol")
    ran = octo.run(cell)
    assert answers(ran, "echo: once please") == 1, ran.outputs


def test_a_turn_shown_in_a_later_cell_shows_itself(octo: Kernel) -> None:
    octo.run("import octo_lab as ol\nanswer = ol.ask('again please')")
    assert answers(octo.run("answer"), "echo: again please") == 1
    assert answers(octo.run("ol.ask('hidden', quiet=True)"), "echo: hidden") == 1


def test_what_an_answer_is_to_be_like_reaches_the_model(octo: Kernel, model: LlmServer) -> None:
    octo.run("import octo_lab as ol\nol.ask('x', temperature=0.5, max_tokens=9, stop_at='END')")
    by_name = model.requests[-1].body
    octo.run("%octo --temperature 0.5 --max-tokens 9 --stop-at END --stop-at '##' x")
    by_option = model.requests[-1].body

    wanted = {"temperature": 0.5, "max_tokens": 9}
    assert wanted | {"stop": ["END"]} == {key: by_name[key] for key in (*wanted, "stop")}
    assert wanted | {"stop": ["END", "##"]} == {key: by_option[key] for key in (*wanted, "stop")}


def test_cells_are_attached_as_they_were_typed(octo: Kernel, model: LlmServer) -> None:
    octo.run("%octo why? because")
    number = octo.run("len(In) - 1").value
    octo.run("!echo hello")
    octo.run(f"%octo look at @cell{int(number) - 1} now")
    said = model.requests[-1].body["messages"][-1]["content"]
    assert "%octo why? because" in said
    assert "run_line_magic" not in said
    octo.run("%octo --context 2 what was that")
    assert "!echo hello" in model.requests[-1].body["messages"][-1]["content"]
    octo.run("%cd -q .\n1/0")
    octo.run("%octo fix")
    said = model.requests[-1].body["messages"][-1]["content"]
    assert "cell:\n%cd -q .\n1/0" in said


def test_an_unknown_name_to_attach_has_a_fitting_hint(octo: Kernel) -> None:
    said = octo.run("%octo -a nope hi").printed
    assert "nope" in said
    assert "--raw" not in said
    assert "name a file" in said


def completed(octo: Kernel, line: str) -> list[str]:
    reply = octo.client.complete(line, len(line), reply=True, timeout=10)
    return list(reply["content"]["matches"])


def test_slash_commands_are_completed_from_the_runtimes_own_list(tmp_path: Path) -> None:
    with kernel(tmp_path) as octo:
        assert completed(octo, "%octo /") == ["/help"]
        octo.run("%octo status")
        names = completed(octo, "%octo /")
        helped = octo.run("%octo /help").value
        assert {"/help", "/sessions", "/model", "/status"} <= set(names)
        assert [name for name in names if name not in helped] == []
        assert completed(octo, "%octo /sess") == ["/sessions"]
