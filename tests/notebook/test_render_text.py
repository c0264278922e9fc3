from __future__ import annotations

import pytest

from octo_lab.core.turns import TextBlock, ToolBlock, TurnSnapshot
from octo_lab.notebook.render_html import turn_html
from octo_lab.notebook.render_text import harmless, turn_markdown, turn_plain


def turn(*blocks: TextBlock | ToolBlock) -> TurnSnapshot:
    return TurnSnapshot(
        turn_id="t",
        message_id="m",
        session="s",
        revision=1,
        state="completed",
        prompt="",
        blocks=blocks,
    )


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("<img src=x>", "&lt;img src=x>"),
        ("![a](https://far.example/x.png)", "[a](https://far.example/x.png)"),
        ("a < b and <https://a.example>", "a < b and <https://a.example>"),
        ("use `<b>` and ``![x]``", "use `<b>` and ``![x]``"),
        ("```html\n<b>\n![x](y)\n```", "```html\n<b>\n![x](y)\n```"),
        ("a\n\n    <b>\n\n<i>", "a\n\n    <b>\n\n&lt;i>"),
        ("```\n<b>", "```\n<b>"),
    ],
)
def test_markdown_shows_tags_as_text_and_pictures_as_links(text: str, shown: str) -> None:
    assert harmless(text) == shown


def test_output_with_fences_stays_in_its_own_fence() -> None:
    call = ToolBlock(call_id="c", name="grep", arguments="{}", state="ok", output="```\n<b>\n````")
    shown = turn_markdown(turn(call), footer=False)
    assert shown == "✓ **`grep`** done\n\n`````text\n```\n<b>\n````\n`````"


DIFF = "--- a/f\n+++ b/f\n@@ -1,2 +1,3 @@\n a\n--- b\n+<b>```\n+c\n"
CHANGE = ToolBlock(
    call_id="c",
    name="write_file",
    arguments='{"path": "f"}',
    state="ok",
    output="Replaced 'f'.",
    diff=DIFF,
)


def test_a_change_is_shown_as_a_diff_in_every_form() -> None:
    shown = turn(CHANGE)
    assert turn_markdown(shown, footer=False) == (
        f"✓ **`write_file`** done\n\n````diff\n{DIFF}````\n\n```text\nReplaced 'f'.\n```"
    )
    assert turn_plain(shown, footer=False) == (
        "✓ write_file(path=\"f\")\n  Replaced 'f'.\n  --- a/f\n  +++ b/f\n  @@ -1,2 +1,3 @@\n"
        "   a\n  --- b\n  +<b>```\n  +c"
    )
    html = turn_html(shown, footer=False)
    assert '<details class="octo-tool octo-ok" open>' in html
    assert '<span class="octo-delta">+2 \u22121</span>' in html
    assert '<span class="gi">+&lt;b&gt;```</span>' in html
    assert '<span class="gd">--- b</span>' in html
