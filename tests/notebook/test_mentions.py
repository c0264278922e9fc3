from __future__ import annotations

import re
from collections.abc import Mapping

import pytest

from octo_lab.notebook.mentions import MENTION, nothing_attached
from octo_lab.testing.llm_server import LlmServer
from tests.notebook.kernels import Kernel

MISSING = "Nothing attached for {}: no variable, cell or file of that name"


def notice(text: str, namespace: Mapping[str, object] = {}) -> str:
    unknown: list[re.Match[str]] = list(MENTION.finditer(text))
    return nothing_attached(text, unknown, namespace)


@pytest.mark.parametrize(
    "text",
    [
        "write to a@b.de or to first.last@example.org",
        "what does `@property` do, and ``a `@b` ``?",
        "```python\n@cache\nx = 1\n```",
        "~~~\n@nobody",
        "@property\ndef f(self): ...",
        "see\n\n    @a.b(1)\n    @other\n    async def f(): ...",
        "@dataclass\nclass A: ...",
        "install @types/node and @babel/core, then @jupyterlab/application.",
        "{{ a @b }}",
        "git@example.org:x/y and https://example.org/@someone",
        "at @ noon",
    ],
)
def test_what_is_no_mention_of_something_here_gives_no_notice(text: str) -> None:
    assert notice(text) == ""


@pytest.mark.parametrize(
    ("text", "names", "hint"),
    [
        ("hi @salez.", "@salez", " (did you mean @sales?)"),
        ("@salez.head and @salez.head", "@salez.head", " (did you mean @sales?)"),
        ('@zzz, @"my file.csv"', "@zzz, @my file.csv", ""),
        ("`code` @zzz `code`", "@zzz", ""),
        ("a lone ` and @zzz", "@zzz", ""),
        ("```\nx\n```\n@zzz", "@zzz", ""),
        ("@zzz\nis no decorator", "@zzz", ""),
        ("@nowhere/at/all.csv and @data/x.csv", "@nowhere/at/all.csv, @data/x.csv", ""),
        (
            " ".join(f"@z{n}" for n in range(7)),
            "@z0, @z1, @z2, @z3, @z4 and 2 more",
            "",
        ),
    ],
)
def test_what_was_not_found_is_named_in_one_line(text: str, names: str, hint: str) -> None:
    assert notice(text, {"sales": 1, "_salez": 2, "salez": re}) == MISSING.format(names) + hint


@pytest.mark.kernel
def test_a_mistyped_name_is_noticed_in_the_cell_and_sent_as_it_is(
    octo: Kernel, model: LlmServer
) -> None:
    octo.run("sales = 41\nopen('notes.txt', 'w').write('the notes')")
    ran = octo.run("%octo hi @salez")
    assert MISSING.format("@salez") + " (did you mean @sales?)" in ran.value
    assert model.requests[-1].body["messages"][-1]["content"] == "hi @salez"
    ran = octo.run("%octo hi @note.txt")
    assert MISSING.format("@note.txt") + " (did you mean @notes.txt?)" in ran.value


@pytest.mark.kernel
@pytest.mark.parametrize("prompt", ["hi @sales", "--raw hi @salez", "mail a@b.de on `@salez`"])
def test_what_was_found_or_not_meant_is_not_noticed(octo: Kernel, prompt: str) -> None:
    ran = octo.run(f"sales = 41\n%octo {prompt}")
    assert ran.status == "ok"
    assert "Nothing attached" not in ran.everything
