from __future__ import annotations

import base64
import re
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

from octo_lab.core.messages import Media, Usage
from octo_lab.core.turns import (
    ErrorBlock,
    NoticeBlock,
    ReasoningBlock,
    TextBlock,
    ToolBlock,
    TurnSnapshot,
)
from octo_lab.notebook.render import render_conversation, render_turn

CALL = ToolBlock(
    call_id="call_9f",
    name="python",
    arguments='{"code": "total = 40 + 2\\ntotal"}',
    state="ok",
    output="42",
    seconds=0.31,
)
TURN = TurnSnapshot(
    turn_id="0199-turn",
    message_id="0199-message",
    session="default:notebook:a.ipynb:0199-dialog",
    revision=7,
    state="completed",
    prompt="What is it?",
    blocks=(ReasoningBlock("I should add."), CALL, TextBlock("It is **42**.")),
    usage=Usage(input_tokens=1200, output_tokens=34),
    model="openai/gpt-4o",
    seconds=2.04,
)


def body(html: str) -> str:
    """The page without its style sheet."""
    return re.sub(r"<style>.*?</style>", "", html, flags=re.DOTALL)


def test_a_turn_reads_in_plain_text_and_in_markdown() -> None:
    bundle = render_turn(TURN)
    assert bundle["text/plain"] == (
        "✓ python(total = 40 + 2 … +1 line)\n  42\n\n"
        "It is **42**.\n\n"
        "(openai/gpt-4o · 1,200 tokens in · 34 out · 2.0 s)"
    )
    assert bundle["text/markdown"] == (
        "✓ **`python`** done\n\n```python\ntotal = 40 + 2\ntotal\n```\n\n```text\n42\n```\n\n"
        "It is **42**.\n\n*openai/gpt-4o · 1,200 tokens in · 34 out · 2.0 s*"
    )


def test_the_html_has_a_card_for_each_call_and_hides_the_thoughts() -> None:
    html = body(render_turn(TURN)["text/html"])
    assert '<details class="octo-think"><summary>Thoughts</summary>' in html
    assert '<details class="octo-tool octo-ok"><summary>' in html
    assert '<span class="octo-state">done, 0.3 s</span>' in html
    assert '<pre class="octo-out">42</pre>' in html
    assert "<strong>42</strong>" in html
    assert '<div class="octo-foot">openai/gpt-4o · 1,200 tokens in · 34 out · 2.0 s</div>' in html


def test_headless_differs_neither_by_run_nor_by_machine() -> None:
    other = replace(
        TURN,
        turn_id="0200",
        message_id="0201",
        session="default:notebook:b.ipynb:0200",
        usage=Usage(input_tokens=9),
        seconds=99.0,
        blocks=(TURN.blocks[0], replace(CALL, call_id="x", seconds=7.5), TURN.blocks[2]),
    )
    first, second = render_turn(TURN, headless=True), render_turn(other, headless=True)
    assert first == second
    assert not re.search(r"0199|call_9f|tokens|\d s\b", body("".join(first.values())))


def test_headless_names_local_folders_and_addresses_by_their_meaning() -> None:
    found = replace(CALL, output=f"{Path.cwd()}/a.csv\n<Model at 0x7f52be1280>")
    failed = ErrorBlock("cannot read", f"look at {Path.home()}/x")
    bundle = render_turn(replace(TURN, blocks=(found, failed)), headless=True)
    assert "  ./a.csv\n  <Model at 0x…>" in bundle["text/plain"]
    assert "look at ~/x" in bundle["text/plain"]


def test_every_way_a_turn_ends_is_said() -> None:
    partial = replace(TURN, blocks=(TextBlock("Half"),), usage=Usage(), model="", seconds=None)
    said = {
        state: render_turn(replace(partial, state=state))["text/plain"]
        for state in ("running", "completed", "cancelled", "interrupted", "failed")
    }
    assert said == {
        "running": "Half\n\n[Answering …]",
        "completed": "Half",
        "cancelled": "Half\n\n[Stopped. What had arrived is kept.]",
        "interrupted": "Half\n\n[Interrupted: the kernel ended before the answer did.]",
        "failed": "Half",
    }


def test_notices_and_errors_show_with_the_next_step() -> None:
    blocks = (NoticeBlock("No model is set up"), ErrorBlock("No key <x>", "set OPENAI_API_KEY"))
    bundle = render_turn(replace(TURN, state="failed", blocks=blocks))
    assert "[No model is set up]\n\nError: No key <x>\n  set OPENAI_API_KEY" in bundle["text/plain"]
    assert "> **Error:** No key &lt;x>  \n> set OPENAI_API_KEY" in bundle["text/markdown"]
    assert "<strong>No key &lt;x&gt;</strong><div>set OPENAI_API_KEY</div>" in bundle["text/html"]


def test_what_a_notice_or_a_hint_marks_as_code_is_shown_as_code() -> None:
    blocks = (NoticeBlock("`octo <trust>` allows it"), ErrorBlock("No", "`/help` and a ` alone"))
    html = render_turn(replace(TURN, state="failed", blocks=blocks))["text/html"]
    assert '<div class="octo-notice"><code>octo &lt;trust&gt;</code> allows it</div>' in html
    assert "<div><code>/help</code> and a ` alone</div>" in html


def test_pictures_of_a_tool_travel_in_the_html_and_nothing_else_does() -> None:
    picture = Media(mime="image/png", data=b"\x89PNG", name='a"b')
    page = Media(mime="text/html", data=b"<script>")
    html = render_turn(replace(TURN, blocks=(replace(CALL, media=(picture, page)),)))["text/html"]
    data = base64.b64encode(b"\x89PNG").decode()
    assert f'<img src="data:image/png;base64,{data}" alt="a&quot;b">' in html
    assert "text/html, 8 bytes, is not shown here" in html


def test_a_tool_s_output_is_cut_in_the_middle_and_its_colours_are_dropped() -> None:
    long = replace(CALL, output="\x1b[31mred\x1b[0m" + "x" * 1_000_000 + "end")
    html = body(render_turn(replace(TURN, blocks=(long,)))["text/html"])
    assert "red" in html
    assert "\x1b" not in html
    assert "characters omitted" in html
    assert len(html) < 6_000


def test_arguments_that_are_no_json_object_are_shown_as_they_came() -> None:
    for arguments in ("{broken", "[1]", '"text"'):
        shown = render_turn(replace(TURN, blocks=(replace(CALL, arguments=arguments),)))
        assert arguments in shown["text/plain"]


def test_text_that_is_no_unicode_is_still_shown() -> None:
    bad = replace(TURN, blocks=(TextBlock("a\ud800b"), replace(CALL, output="\udfff")))
    for text in render_turn(bad).values():
        assert "�" in text
        text.encode()


def test_a_conversation_shows_each_prompt_with_its_answer() -> None:
    bundle = render_conversation("Sums", (TURN, replace(TURN, prompt="And <b>?")))
    assert bundle["text/plain"].startswith("Octo chat: Sums\n\n> What is it?\n\n✓ python")
    assert bundle["text/markdown"].count("It is **42**.") == 2
    assert "And &lt;b&gt;?" in body(bundle["text/html"])
    assert bundle["text/html"].count("<style>") == 1


def test_the_style_of_code_is_left_out_where_there_is_no_code() -> None:
    with_code = render_turn(TURN)["text/html"]
    without = render_turn(replace(TURN, blocks=(TextBlock("hi"),)))["text/html"]
    assert ".hljs-keyword" in with_code
    assert ".hljs-keyword" not in without


def test_importing_the_renderer_loads_no_parser() -> None:
    code = (
        "import sys, octo_lab.notebook.render; "
        "print([m for m in ('markdown_it', 'nh3', 'pygments') if m in sys.modules])"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=60
    )
    assert done.stdout == "[]\n"
