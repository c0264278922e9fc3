from __future__ import annotations

import ast
import json
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from octo_lab.testing.llm_script import call, calls, says
from octo_lab.testing.llm_server import LlmServer
from tests.notebook.kernels import Kernel, Ran, kernel, with_model

pytestmark = pytest.mark.kernel

ALLOWED = "-t python -t list_variables -t inspect"


@pytest.fixture(autouse=True)
def unscripted(model: LlmServer) -> Iterator[None]:
    """What one test scripted and did not use is nothing to the next."""
    yield
    model._answers.clear()


@pytest.fixture(scope="module", autouse=True)
def started(octo: Kernel) -> None:
    octo.run("%octo status")


def ask(octo: Kernel, model: LlmServer, code: str, **more: Any) -> tuple[str, Ran]:
    """Have the model run ``code``; what the tool gave back, and the cell."""
    model.script(calls(call("python", code=code)), says("done"))
    ran = octo.run(f"turn = %octo {ALLOWED} go", stdin=False, **more)
    return tool_message(model), ran


def tool_message(model: LlmServer) -> str:
    messages = model.requests[-1].body["messages"]
    return str([m for m in messages if m["role"] == "tool"][-1]["content"])


def test_the_agent_computes_in_the_users_namespace(octo: Kernel, model: LlmServer) -> None:
    octo.run("x = 20")
    said, _ = ask(octo, model, "y = x * 2\nprint('printed')\ny + 2")
    assert said == "printed\n42"
    assert octo.run("y").value == "40"


def test_in_out_underscore_and_count_stay_as_they_are(octo: Kernel, model: LlmServer) -> None:
    octo.run("'kept'")
    before = octo.run("(_, len(In), len(Out))")
    said, _ = ask(octo, model, "1\n2\n3")
    after = octo.run("(_oh[max(k for k in _oh if k < len(In) - 2)], len(In), len(Out))")
    assert said == "3"
    assert before.value.startswith("('kept'")
    assert "3" not in str(octo.run("[v for v in Out.values()]").value).split(",")
    counts = before.reply["execution_count"], after.reply["execution_count"]
    assert counts[1] - counts[0] == 2


@pytest.mark.parametrize(
    ("code", "said"),
    [
        ("%pwd\n%time 1 + 1", "2"),
        ("!echo from the shell", "from the shell"),
        ("%%bash\necho from a script\necho and its errors >&2", "and its errors"),
        ("%%bash\necho from a script", "from a script"),
        ("import asyncio\nawait asyncio.sleep(0.01)\n'awaited'", "'awaited'"),
        ("import asyncio\nz = await asyncio.sleep(0.01, 7)\nz + 1", "8"),
        ("async def g():\n    return 5\nawait g()", "5"),
        ("print('a', end='')\nimport sys\nprint('b', file=sys.stderr)", "ab"),
        ("from IPython.display import display\ndisplay({'a': 1})\n'last'", "{'a': 1}\n'last'"),
        ("q = 1", "Done; no output."),
        ("q = 1\nq;", "Done; no output."),
        ("import pandas as pd\npd.DataFrame({'a': [1, 2]})", "   a\n0  1\n1  2"),
    ],
)
def test_code_means_what_it_means_in_a_cell(
    octo: Kernel, model: LlmServer, code: str, said: str
) -> None:
    given, _ = ask(octo, model, code)
    assert said in given


def test_figures_are_pictures_for_the_model_and_no_output_of_the_cell(
    octo: Kernel, model: LlmServer
) -> None:
    code = "import matplotlib.pyplot as plt\nplt.plot([1, 2])\nplt.title('t')"
    _, ran = ask(octo, model, code)
    pictures = octo.run("[(m.mime, m.data[:4]) for m in turn.tool_calls[0].media]").value
    assert pictures == "[('image/png', b'\\x89PNG')]"
    assert not [o for o in ran.outputs if "image/png" in o["content"].get("data", {})]


def test_an_error_is_a_traceback_of_the_code_alone(octo: Kernel, model: LlmServer) -> None:
    said, ran = ask(octo, model, "print('before')\ndef f():\n    return 1 / 0\nf()")
    assert "before" in said
    assert "return 1 / 0" in said
    assert "ZeroDivisionError: division by zero" in said
    assert "octo_lab" not in said
    assert ran.status == "ok"


@pytest.mark.parametrize(
    ("code", "why"),
    [
        ("input('?')", "input() is not available"),
        ("exit()", "exit() is not available"),
        ("import sys\nsys.exit(3)", "exit() is not available"),
        ("def x(:", "SyntaxError"),
        ("%octo hello", "Error: The agent's own code cannot ask the agent"),
        ("raise KeyError('k')", "KeyError: 'k'"),
    ],
)
def test_what_cannot_work_is_a_clear_error(
    octo: Kernel, model: LlmServer, code: str, why: str
) -> None:
    said, _ = ask(octo, model, code)
    assert why in said
    assert octo.run("1 + 1").value == "2"


@pytest.mark.parametrize(
    "code",
    [
        "while True: pass",
        "import time\ntime.sleep(60)",
        "import asyncio\nwhile True: await asyncio.sleep(0)",
        "import asyncio\nawait asyncio.sleep(60)",
        "import asyncio\nawait asyncio.sleep(0)\nwhile True: pass",
        "import subprocess\nsubprocess.run(['sleep', '60'])",
        "try:\n    x = 1\n    while True: pass\nexcept BaseException: pass\nwhile True: pass",
    ],
)
@pytest.mark.parametrize("form", ["awaited", "blocking"])
def test_an_interrupt_ends_endless_code(
    octo: Kernel, model: LlmServer, code: str, form: str
) -> None:
    model.script(calls(call("python", code=f"began = 1\n{code}")), says("never"))
    cell = f"%octo {ALLOWED} go"
    octo.run("began = 0")
    sent = octo.send(cell if form == "awaited" else f"def f():\n    {cell}\nf()", stdin=False)
    time.sleep(0.7)
    began = time.monotonic()
    octo.interrupt()
    ran = octo.collect(sent, wait=10)
    took = time.monotonic() - began
    assert "Traceback" not in ran.everything
    assert took < 2.0  # an interrupt that did not work takes 60 s and more
    assert octo.run("began").value == "1"


def test_the_timeout_of_a_turn_ends_endless_code(octo: Kernel, model: LlmServer) -> None:
    model.script(calls(call("python", code="while True: pass")), says("never"))
    began = time.monotonic()
    ran = octo.run(f"%octo {ALLOWED} --timeout 1 go", stdin=False)
    assert time.monotonic() - began < 4.0
    assert ran.status == "ok"
    assert octo.run("1 + 1").value == "2"


def test_a_huge_output_is_bounded_and_says_so(octo: Kernel, model: LlmServer) -> None:
    said, _ = ask(octo, model, "print('x' * 50_000_000)\nprint('the end')")
    assert len(said) < 60_000
    assert "omitted" in said
    assert "the end" in said


def test_variables_are_listed_and_inspected(octo: Kernel, model: LlmServer) -> None:
    octo.run(
        "import pandas as pd\n"
        "df = pd.DataFrame({'a': [1, None, 3], 'b': list('xyz')})\n"
        "class Bad:\n    def __repr__(self): raise RuntimeError('no')\n"
        "bad = Bad()"
    )
    model.script(
        calls(call("list_variables"), call("inspect", name="df", id="call_2")),
        calls(call("inspect", name="bad"), call("inspect", name="badd", id="c2")),
        says("done"),
    )
    octo.run(f"%octo {ALLOWED} go", stdin=False)
    tools = [m["content"] for m in model.requests[-1].body["messages"] if m["role"] == "tool"]
    listed, frame, bad, missing = tools[-4:]
    assert "df: DataFrame (3, 2)" in listed
    assert "bad: Bad (its repr raised RuntimeError)" in listed
    assert "3 rows x 2 columns" in frame
    assert "a: float64" in frame
    assert "missing values: a 1" in frame
    assert "its description raised RuntimeError" in bad
    assert "No variable is called 'badd' (did you mean 'bad'?)" in missing


def test_headless_the_tool_is_denied_unless_named(octo: Kernel, model: LlmServer) -> None:
    model.script(calls(call("python", code="denied = 1")), says("done"))
    octo.run("%octo go", stdin=False)
    assert "denied" in tool_message(model)
    assert "NameError" in octo.run("denied").error


def test_headless_a_tool_runs_once_it_is_allowed(model: LlmServer, tmp_path: Path) -> None:
    with kernel(tmp_path, with_model(model)) as octo:
        octo.run("import octo_lab as ol; ol.allow('python')", stdin=False)
        model.script(calls(call("python", code="granted = 1")), says("done"))
        octo.run("%octo go", stdin=False)
        listed = octo.run("%octo /allow", stdin=False).everything
        octo.run("%octo /deny python", stdin=False)
        model.script(calls(call("python", code="refused = 1")), says("done"))
        octo.run("%octo go on", stdin=False)
        known = [octo.run(f"'{name}' in dir()").value for name in ("granted", "refused")]
        wrong = octo.run("ol.allow('nonsuch')").everything

    assert known == ["True", "False"]
    assert "`python` may run in this session until octo_lab closes." in listed
    assert "No tool 'nonsuch' asks before it runs" in wrong


@pytest.mark.parametrize(("answer", "result"), [("o", "1"), ("d", "NameError")])
def test_a_blocking_call_asks_by_input(
    octo: Kernel, model: LlmServer, answer: str, result: str
) -> None:
    model.script(calls(call("python", code=f"asked_{answer} = 1")), says("done"))
    prompts: list[str] = []

    def reply(prompt: str) -> str:
        prompts.append(prompt)
        return answer

    octo.run("def f():\n    %octo go\nf()", answer=reply)
    assert len(prompts) == 1
    assert f"asked_{answer} = 1" in prompts[0]
    assert result in octo.run(f"asked_{answer}").everything


def test_an_awaited_cell_without_buttons_asks_by_input_too(octo: Kernel, model: LlmServer) -> None:
    model.script(
        calls(call("python", code="once = 1")), calls(call("python", code="again = 2")), says("ok")
    )
    asked: list[str] = []

    def reply(prompt: str) -> str:
        asked.append(prompt)
        return "s"

    octo.run("%octo go", answer=reply)
    assert len(asked) == 1
    assert octo.run("once + again").value == "3"


def test_json_of_the_turn_has_its_calls(octo: Kernel, model: LlmServer) -> None:
    ask(octo, model, "40 + 2")
    data = json.loads(octo.run("import json\nprint(json.dumps(turn.to_dict()))").printed)
    assert data["state"] == "completed"
    assert [
        (b["name"], b["state"], b["output"]) for b in data["blocks"] if b["kind"] == "tool"
    ] == [("python", "ok", "42")]


@pytest.mark.parametrize("code", ["while True: pass", "import asyncio\nawait asyncio.sleep(60)"])
@pytest.mark.parametrize("form", ["awaited", "blocking"])
def test_a_stop_from_elsewhere_ends_endless_code(
    octo: Kernel, model: LlmServer, code: str, form: str
) -> None:
    """As a Stop button does: its message comes on another thread while the main one is busy."""
    model.script(calls(call("python", code=f"ran = 1\n{code}")), says("never"))
    octo.run(
        "import threading, time\n"
        "from octo_lab.core.mail import Stop\n"
        "runtime = get_ipython().octo.face.runtime()\n"
        "ran = 0\n"
        "def stop():\n"
        "    while not ran: time.sleep(0.01)\n"
        "    time.sleep(0.3)\n"
        "    runtime.control(Stop())\n"
        "threading.Thread(target=stop).start()"
    )
    cell = f"%octo {ALLOWED} go"
    began = time.monotonic()
    ran = octo.run(
        cell if form == "awaited" else f"def f():\n    {cell}\nf()", stdin=False, wait=10
    )
    assert time.monotonic() - began < 3.0  # a stop that did not work takes 60 s and more
    assert ran.status == "ok"
    assert "Stopped" in ran.value
    assert octo.run("1 + 1").value == "2"


def test_code_that_fails_names_the_persons_cells(octo: Kernel, model: LlmServer) -> None:
    octo.run("def broken():\n    return [][0]")
    said, _ = ask(octo, model, "broken()")
    assert 'File "<cell>", line 2, in broken' in said
    assert "site-packages" not in said


@pytest.mark.parametrize(
    ("code", "why"),
    [
        ("raise GeneratorExit", "GeneratorExit"),
        ("import asyncio\nawait asyncio.sleep(0)\nraise GeneratorExit", "GeneratorExit"),
        ("import asyncio\nawait asyncio.sleep(0)\nraise SystemExit(2)", "exit() is not available"),
        ("import asyncio\nawait asyncio.sleep(0)\nraise asyncio.CancelledError", "CancelledError"),
        ("import asyncio\nraise asyncio.CancelledError", "CancelledError"),
        ("class E(BaseException): pass\nraise E('mine')", "E: mine"),
        ("raise StopIteration(1)", "StopIteration: 1"),
    ],
)
def test_whatever_code_raises_the_turn_and_the_runtime_go_on(
    octo: Kernel, model: LlmServer, code: str, why: str
) -> None:
    said, _ = ask(octo, model, code)
    assert why in said
    assert octo.run("turn.state").value == "'completed'"


def test_whatever_a_notebook_tool_raises_the_turn_goes_on(octo: Kernel, model: LlmServer) -> None:
    octo.run(
        "import octo_lab as ol\n"
        "errors = {'g': GeneratorExit, 's': SystemExit, 'i': StopIteration}\n"
        "@ol.tool\ndef fails(kind: str) -> str:\n    'Fails.'\n    raise errors[kind]('why')\n"
    )
    for kind, name in (("g", "GeneratorExit"), ("s", "SystemExit"), ("i", "StopIteration")):
        model.script(calls(call("fails", kind=kind)), says("done"))
        octo.run("turn = %octo -t fails go", stdin=False, wait=10)
        assert f"It raised {name}: why" in tool_message(model)
        assert octo.run("turn.state").value == "'completed'"


@pytest.mark.parametrize("method", ["__repr__", "_repr_html_"])
def test_a_repr_that_raises_is_told_to_the_model_and_not_to_the_cell(
    octo: Kernel, model: LlmServer, method: str
) -> None:
    code = f"class A:\n    def {method}(self): raise ValueError('hostile')\nA()"
    said, ran = ask(octo, model, code)
    assert "ValueError: hostile" in said
    assert ran.error == ""


def test_what_is_no_picture_is_not_sent_as_one_and_too_many_are_counted(
    octo: Kernel, model: LlmServer
) -> None:
    bundle = "{'image/png': 'no base64!', 'text/plain': 'in words'}"
    said, _ = ask(octo, model, f"from IPython.display import display\ndisplay({bundle}, raw=True)")
    assert said == "in words"
    picture = "{'image/png': b'\\x89PNG'}"
    said, _ = ask(octo, model, f"for i in range(23): display({picture}, raw=True)")
    assert said == "[3 more pictures left out]"


def test_a_forked_child_that_comes_out_of_the_code_does_not_become_a_second_kernel(
    octo: Kernel, model: LlmServer
) -> None:
    # Python 3.12 and later warn of a fork beside threads, before the last line
    fork = "import os\nchild = os.fork()\nif not child: raise SystemExit\nos.waitpid(child, 0)[1]"
    assert ask(octo, model, fork, wait=15)[0].splitlines()[-1] == "0"
    fork = "import os\nchild = os.fork()\nif child: print(os.waitpid(child, 0)[1])"
    assert ask(octo, model, fork, wait=15)[0].splitlines()[-1] == "0"


def test_code_cannot_take_python_or_the_magics_away_from_the_person(
    octo: Kernel, model: LlmServer
) -> None:
    ask(octo, model, "import builtins\ndel builtins.sorted\ndel builtins.map\nget_ipython = None")
    assert octo.run("sorted(map(abs, [-2, 1]))").value == "[1, 2]"
    assert "echo: again" in octo.run("%octo again").value


def test_after_code_ran_the_variables_are_still_only_the_persons(
    octo: Kernel, model: LlmServer
) -> None:
    model.script(
        calls(call("python", code="get_ipython = 1")),
        calls(call("list_variables", id="call_2")),
        says("done"),
    )
    octo.run(f"%octo {ALLOWED} look", stdin=False)
    tools = [m["content"] for m in model.requests[-1].body["messages"] if m["role"] == "tool"]
    assert "get_ipython" not in tools[-1]
    assert octo.run("type(get_ipython()).__name__").value == "'ZMQInteractiveShell'"


def test_what_long_code_prints_is_shown_while_it_runs(octo: Kernel, model: LlmServer) -> None:
    model.script(calls(call("python", code=SLOW)), says("done"))
    shown: list[str] = []

    def look(message: dict[str, Any]) -> None:
        shown.append(str(message["content"].get("data", "")))

    octo.run("import octo_lab as ol; ol.allow('python')", stdin=False)
    octo.run("%octo go", on_output=look)
    octo.run("%octo /deny python", stdin=False)
    first = next(n for n, text in enumerate(shown) if "step 1" in text)
    last = next(n for n, text in enumerate(shown) if "step 9" in text)
    assert first < last


SLOW = """
import time
for n in range(10):
    print("step", n)
    time.sleep(0.15)
"""


@pytest.mark.parametrize(
    ("code", "gone"),
    [
        ("del mine", "mine"),
        ("%reset_selective -f mine", "mine"),
        ("del mine\nmine = 2", ""),
        ("passing = 1\ndel passing", ""),
        ("del mine\nraise ValueError('then')", "mine"),
    ],
)
def test_a_variable_of_the_person_is_never_deleted_in_silence(
    octo: Kernel, model: LlmServer, code: str, gone: str
) -> None:
    octo.run("mine = 1")
    said, _ = ask(octo, model, code)
    note = f"[variables of the notebook that are gone: {gone}]"
    assert (note in said) is bool(gone)
    assert ("are gone" in said) is bool(gone)


def test_what_looks_like_a_key_reaches_nobody(octo: Kernel, model: LlmServer) -> None:
    said, ran = ask(octo, model, "print('sk-proj-' + 'Ab1' * 14)")
    assert "Ab1Ab1" not in said
    assert "***" in said
    assert "Ab1Ab1" not in str([o["content"] for o in ran.outputs])


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux tells what is opened")
def test_a_private_file_that_code_opens_is_seen_whatever_it_is_called(
    model: LlmServer, tmp_path: Path
) -> None:
    (tmp_path / ".env").write_text("SERVICE=correct-horse\n")
    code = "print(open(chr(46) + 'env').read()[::-1])"
    fetch = calls(call("web_fetch", url="http://192.0.2.1/"))
    with kernel(tmp_path, with_model(model)) as octo:
        model.script(calls(call("python", code=code)), fetch, says("done"))
        octo.run("%octo -t python -t web_fetch go", stdin=False)

    assert "after private data was read: python read '.env'" in tool_message(model)


def test_code_that_ran_is_named_as_a_change_that_cannot_be_undone(
    octo: Kernel, model: LlmServer
) -> None:
    octo.run("%octo /new")
    ask(octo, model, "ran_here = 1")
    assert "python: ran_here = 1" in octo.run("%octo /undo", stdin=False).everything


CALL_FROM_ELSEWHERE = """
from octo_lab.core.keys import ChatAddress
from octo_lab.core.mail import ControlRequest, GetTools
from octo_lab.core.tool_mail import CallTool
runtime = get_ipython().octo.face.runtime()
def reply(control):
    address = ChatAddress(channel={channel!r}, chat_id="c")
    request = ControlRequest(address=address, control=control, sender_id="me")
    return runtime.submit(runtime.opened.result().door.control, request).result()
answer = reply(CallTool(name={tool!r}, arguments={arguments!r}, yes=True))
listed = [info for info in reply(GetTools()).tools if info.name == {tool!r}]
(answer.decision, answer.reason, answer.text, [info.why_not for info in listed])
"""


@pytest.mark.parametrize("channel", ["telegram", "cli", "web"])
@pytest.mark.parametrize(
    ("tool", "arguments"),
    [
        ("python", '{"code": "stolen = 1"}'),
        ("list_variables", "{}"),
        ("inspect", '{"name": "mine"}'),
    ],
)
def test_no_turn_and_no_call_from_elsewhere_reaches_the_kernel(
    octo: Kernel, channel: str, tool: str, arguments: str
) -> None:
    code = CALL_FROM_ELSEWHERE.format(channel=channel, tool=tool, arguments=arguments)
    why = f"it is never offered in {channel!r}"
    assert ast.literal_eval(octo.run(code).everything) == ("deny", why, "", [why])
    assert "NameError" in octo.run("stolen").error
