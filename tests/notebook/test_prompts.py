from __future__ import annotations

import pytest

from octo_lab.testing.llm_server import LlmServer
from tests.notebook.kernels import Kernel

pytestmark = pytest.mark.kernel

LINES = [
    "what is this?",
    "what is this??",
    "is it so ?",
    "%who?",
    "say it's done",
    'say "unclosed',
    "say 'both \" kinds",
    "it's a \"mess' of quotes",
    '{"a": 1}',
    "{}",
    "{0}",
    "{",
    "}",
    "{{",
    "}}",
    "{{}}",
    "{df}",
    "{missing.a}",
    "{In[3]}",
    "a set {1, 2} and {x: y for x in z}",
    "{% if x %}{{#each}}{% endif %}",
    r"\frac{a}{b} and \\ and \n",
    "$5 and $HOME and $`x`",
    "# a comment",
    "not # a comment",
    "!ls",
    "?octo",
    "/tmp/a is a path",
    "~/x",
    "100% sure",
    "a = %octo b",
    "lambda x: x if x else -x",
    "an emoji 🐙 and 👩‍👩‍👧",
    "שלום عالم",
    "日本語とÄÖÜß",
    "zero\u200bwidth and nb\u00a0sp",
    "line\u2028separator\x0cformfeed\x1cfs\x85nel",
    "tab\there",
    "trailing spaces   ",
    "ends in a backslash \\",
    "C:\\new\\table",
    "`code` and ```fence```",
    "<script>alert(1)</script> & &amp;",
    "@property is no variable, a@b.example neither",
    "-1 is negative, - item",
    "5 -m is no option",
    "await print(1)",
    "def f(:",
    "nul\x00byte",
    ";",
    "()",
    "[",
    '"""',
    "'''",
    "x" * 100_000,
]
BODIES = [
    "two\nlines",
    "\n\nleading blank lines",
    "trailing blank lines\n\n\n",
    "  indented\n    more\n  less",
    ">>> prompt\n... marker",
    "In [1]: prompt",
    "%octo inside\n%%octo inside",
    "# NBVAL_IGNORE_OUTPUT is text here",
    "crlf\r\nlines\r\nend",
    "a\tb\n\tc",
    "```python\nprint('{x}')\n```\n\n$$\\sum_{i}$$",
    'digraph { a -> b [label="{x}"] }',
    "é🐙\n" * 25_000,
]


def sent(model: LlmServer) -> str:
    return str(model.requests[-1].body["messages"][-1]["content"])


# In a def a line that ends in a backslash goes on in the next, as everywhere in IPython.
CASES = [
    pytest.param(form, text, id=f"{form} {text[:20]!r}")
    for form in ("line", "cell", "assigned", "blocking")
    for text in LINES
    if not (form == "blocking" and text.endswith("\\"))
]


@pytest.mark.parametrize(("form", "text"), CASES)
def test_a_prompt_arrives_byte_for_byte(
    octo: Kernel, model: LlmServer, form: str, text: str
) -> None:
    cells = {
        "line": f"%octo --quiet --append -- {text}",
        "cell": f"%%octo --quiet\n{text}",
        "assigned": f"answer = %octo --quiet -- {text}",
        "blocking": f"def f():\n    %octo --quiet -- {text}\nf()",
    }
    asked = len(model.requests)
    ran = octo.run(cells[form], stdin=False)
    assert (ran.status, ran.everything) == ("ok", "")
    assert len(model.requests) == asked + 1
    assert sent(model) == text


@pytest.mark.parametrize("text", BODIES, ids=lambda text: repr(text)[:24])
@pytest.mark.parametrize("above", ["", "# a comment above\n\n", "\n"])
def test_a_body_arrives_byte_for_byte(
    octo: Kernel, model: LlmServer, above: str, text: str
) -> None:
    ran = octo.run(f"{above}%%octo --quiet\n{text}\n", stdin=False)
    assert (ran.status, ran.everything) == ("ok", "")
    assert sent(model) == text


@pytest.mark.parametrize(
    ("prompt", "said"),
    [
        ("n is {{ n }}!", "n is 3!"),
        ("{{n}}{{ n + 1 }}", "34"),
        ("{{ {'a': {'b': 1}}['a'] }} {n}", "{'b': 1} {n}"),
        ("{{ word }} {{ '{{ n }}' }}", "it's {{ n }}"),
        ("{{ twice }}", "def twice(x):\n    return 2 * x"),
    ],
)
def test_expressions_are_replaced_once(
    octo: Kernel, model: LlmServer, prompt: str, said: str
) -> None:
    octo.run('n = 3\nword = "it\'s"\ndef twice(x):\n    return 2 * x')
    octo.run(f"%%octo --quiet\n{prompt}", stdin=False)
    assert sent(model) == said


def test_a_frame_is_its_shape_dtypes_and_head(octo: Kernel, model: LlmServer) -> None:
    octo.run("import pandas as pd\nframe = pd.DataFrame({'a': range(1000), 'b': None})")
    octo.run("%octo --quiet -- about {{ frame }}", stdin=False)
    assert "DataFrame, 1000 rows x 2 columns" in sent(model)
    assert "a: int64" in sent(model)
    assert "missing values: b 1000" in sent(model)
    assert "999" not in sent(model)


@pytest.mark.parametrize(
    ("cell", "line"),
    [
        ("%octo {{ nowhere }}", "no variable is called 'nowhere'"),
        ("%octo {{ 1 / 0 }}", "raised ZeroDivisionError: division by zero"),
        ("%octo {{ __import__('sys').exit(4) }}", "raised SystemExit: 4"),
        ("%octo --modle x hi", "did you mean --model?"),
        ("%octo -m", "-m needs a value"),
        ("%octo --max-tokens many hi", "--max-tokens: 'many' is no number"),
        ("%octo -f pdf hi", "No format named 'pdf'"),
        ("%octo -o 1x hi", "'1x' is no variable name"),
        ("%octo -o class hi", "'class' is no variable name"),
        ("%octo -a no/such.file hi", "'no/such.file'"),
        ("%octo --schema nothing hi", "no variable and no file"),
        ("%octo /nonsense", "No command /nonsense"),
        ("%octo -s nowhere /undo", "No session named 'nowhere'"),
        ("%octo fix", "No exception to fix"),
        ("%octo --no-tools", "There is nothing to ask"),
        ("def f():\n    %octo --modle x hi\nf()", "did you mean --model?"),
    ],
)
def test_a_mistake_is_one_line(octo: Kernel, cell: str, line: str) -> None:
    ran = octo.run(cell)
    assert ran.status == "error"
    assert line in ran.printed
    assert "Traceback" not in ran.everything
    assert ran.printed.startswith("UsageError: ")


def test_names_attach_variables_cells_and_files(octo: Kernel, model: LlmServer) -> None:
    octo.run("number = 41\nopen('notes.txt', 'w').write('the notes')")
    octo.run("%octo --quiet -- see @number, @notes.txt. And @nobody", stdin=False)
    text = sent(model)
    assert text.startswith("see @number, @notes.txt. And @nobody\n\n")
    assert "[attached: number]\n41\n[end of number]" in text
    assert "[attached: notes.txt]\nthe notes\n[end of notes.txt]" in text
    assert text.count("[attached: ") == 2


def test_raw_changes_nothing(octo: Kernel, model: LlmServer) -> None:
    octo.run("%octo --quiet --raw -- {{ n }} @number", stdin=False)
    assert sent(model) == "{{ n }} @number"


@pytest.mark.parametrize("cell", ["%octo?", "%%octo?", "%octo --help", "%%octo", "%octo help"])
def test_help_is_shown(octo: Kernel, model: LlmServer, cell: str) -> None:
    asked = len(model.requests)
    ran = octo.run(cell)
    told = ran.printed + str(ran.reply.get("payload"))
    assert ran.status == "ok"
    assert "--no-tools" in told
    assert len(model.requests) == asked


def test_an_alias_with_options_is_the_same_magic(octo: Kernel, model: LlmServer) -> None:
    octo.run("%alias_magic --line oo octo -p '--quiet'")
    ran = octo.run("%oo is it so?", stdin=False)
    assert (ran.status, sent(model)) == ("ok", "is it so?")


@pytest.mark.parametrize(
    ("code", "wanted"),
    [
        ("%octo --mo", "--model"),
        ("%octo -f j", "json"),
        ("%octo /se", "/sessions"),
        ("%octo do", "doctor"),
        ("%octo look at @numb", "@number"),
        ("%%octo\nlook at @numb", "@number"),
        ("x = %octo --qu", "--quiet"),
    ],
)
def test_options_commands_and_names_complete(octo: Kernel, code: str, wanted: str) -> None:
    octo.run("number = 41\n%octo status")
    reply = octo.client.complete(code, reply=True, timeout=10)["content"]
    found = [code[: reply["cursor_start"]] + match for match in reply["matches"]]
    assert any(line.endswith(wanted) for line in found), reply
