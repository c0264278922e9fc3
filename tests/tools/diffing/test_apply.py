from __future__ import annotations

import difflib
import subprocess
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from octo_lab.core.errors import ToolFailed
from octo_lab.tools.diffing.apply import apply_patch
from octo_lab.tools.diffing.parse import parse_patch
from octo_lab.tools.diffing.unified import unified_diff

lines = st.sampled_from(["a", "b", "c", "", " ", "- x", "-- x", "++ y", "@@ z", "\\ w", "\ta "])
texts = st.builds(
    lambda body, end: "\n".join(body) + end,
    st.lists(lines, max_size=14),
    st.sampled_from(["", "\n"]),
)


def apply(text: str, diff: str) -> str:
    return apply_patch(text, parse_patch(diff), "f")


def failure(text: str, diff: str) -> str:
    with pytest.raises(ToolFailed) as raised:
        apply(text, diff)
    return str(raised.value)


@given(texts, texts)
@settings(max_examples=400)
def test_the_diff_of_two_texts_makes_one_of_the_other(before: str, after: str) -> None:
    diff = unified_diff("f", before, after)
    assert (apply(before, diff) if diff else before) == after


@given(texts, texts)
def test_a_diff_by_difflib_is_applied_too(before: str, after: str) -> None:
    old = [line for line in before.splitlines(keepends=True) if before.endswith("\n")]
    new = [line for line in after.splitlines(keepends=True) if after.endswith("\n")]
    diff = "".join(difflib.unified_diff(old, new, "f", "f"))
    if diff:
        assert apply("".join(old), diff) == "".join(new)


@given(st.integers(1, 3), st.data())
def test_a_text_that_drifted_by_up_to_three_lines_is_changed_all_the_same(
    drift: int, data: st.DataObject
) -> None:
    before = [f"line {number}\n" for number in range(30)]
    after = list(before)
    for number in sorted(data.draw(st.sets(st.integers(0, 29), min_size=1)), reverse=True):
        after[number : number + 1] = data.draw(
            st.lists(st.sampled_from(["new\n", "other\n"]), max_size=2)
        )
    if after == before:
        return
    lead = "".join(f"lead {number}\n" for number in range(drift))
    diff = unified_diff("f", "".join(before), "".join(after))
    assert apply(lead + "".join(before), diff) == lead + "".join(after)


@given(texts, texts)
@settings(max_examples=30)
def test_patch_reads_our_diffs_as_we_do(
    tmp_path_factory: pytest.TempPathFactory, before: str, after: str
) -> None:
    diff = unified_diff("f", before, after)
    if not diff:
        return
    folder = tmp_path_factory.mktemp("patch")
    (folder / "f").write_bytes(before.encode())
    (folder / "d").write_bytes(diff.encode())
    git = ["git", "apply", "--unidiff-zero", "--allow-empty", "d"]
    done = subprocess.run(git, cwd=folder, capture_output=True, check=False)
    assert done.returncode == 0, done.stderr
    assert (folder / "f").read_bytes() == after.encode()


@given(st.text(max_size=300))
def test_whatever_is_no_diff_is_refused_with_words(diff: str) -> None:
    with pytest.raises(ToolFailed, match="the diff "):
        apply("a\nb\n", diff.replace("@@", ""))


TEN = "".join(f"{number}\n" for number in range(1, 11))


@pytest.mark.parametrize(
    "diff",
    [
        "@@ -2,3 +2,3 @@\n 2\n-3\n+three\n 4\n",
        "--- a/f\n+++ b/f\n@@ -2,3 +2,3 @@ def f():\n 2\n-3\n+three\n 4\n",
        "diff --git a/f b/f\nindex 1..2\n--- a/f\n+++ b/f\n@@ -2,3 +2,3 @@\n 2\n-3\n+three\n 4",
        "```diff\n@@ -2,3 +2,3 @@\n 2\n-3\n+three\n 4\n```\n",
        "@@ -2,9 +2,1 @@\n 2\n-3\n+three\n 4\n",
        "@@ -5,3 +5,3 @@\n 2\n-3\n+three\n 4\n",
        "@@\n 2\n-3\n+three\n 4\n",
        "@@ ... @@\n-3\n+three\n",
        "@@ -3 +3 @@\r\n-3\r\n+three\r\n",
        "@@ -2,3 +2,3 @@\n 2  \n-3\t\n+three\n 4\n",
    ],
)
def test_diffs_as_models_write_them_are_understood(diff: str) -> None:
    assert apply(TEN, diff) == TEN.replace("3\n", "three\n")


def test_the_nearest_of_several_places_is_taken() -> None:
    text = "x\na\nx\nb\nx\n"
    assert apply(text, "@@ -4 +4 @@\n-x\n+y\n") == "x\na\ny\nb\nx\n"
    assert apply(text, "@@ -5 +5 @@\n-x\n+y\n") == "x\na\nx\nb\ny\n"


def test_line_ends_and_spaces_of_lines_that_are_only_shown_stay() -> None:
    text = "a \r\nb\r\nc\nd\r\n"
    diff = "@@ -1,4 +1,5 @@\n a\n-b\n+B\n+BB\n c\n d\n"
    assert apply(text, diff) == "a \r\nB\r\nBB\r\nc\nd\r\n"


def test_lines_added_after_a_last_line_without_an_end_get_their_own() -> None:
    assert apply("a", "@@ -1 +1,2 @@\n a\n+b\n") == "a\nb\n"
    assert apply("a", "@@ -1 +1,2 @@\n a\n+b\n\\ No newline at end of file\n") == "a\nb"


def test_a_hunk_that_does_not_fit_is_named_with_what_is_there() -> None:
    diff = "@@ -1 +1 @@\n-1\n+one\n@@ -5,2 +5,2 @@\n-five\n+FIVE\n 6\n"
    assert failure(TEN, diff) == (
        "hunk 2 of 2 (@@ -5,2 +5,2 @@) does not fit 'f', which stays as it is; "
        "line 5 is '5', not 'five'\nthere is:\n2|2\n3|3\n4|4\n5|5\n6|6\n7|7\n8|8\n9|9 "
        "(read the file again and take its lines as they are)"
    )


def test_a_hunk_too_far_off_is_told_where_its_lines_are() -> None:
    said = failure(TEN, "@@ -2 +2 @@\n-9\n+nine\n")
    assert said.endswith(
        "(these lines begin at line 9: correct the header, or the order of the hunks)"
    )


def test_a_hunk_that_claims_to_begin_before_the_file_is_told_what_is_there() -> None:
    said = failure("one\n", "@@ -0,2 +1,2 @@\n-two\n+2\n three\n")
    assert "line 1 is 'one', not 'two'" in said


def test_hunks_that_overlap_are_refused() -> None:
    diff = "@@ -1,2 +1,2 @@\n 1\n-2\n+two\n@@ -2,2 +2,2 @@\n-2\n+zwei\n 3\n"
    assert "hunk 2 of 2" in failure(TEN, diff)


@pytest.mark.parametrize(
    ("diff", "said"),
    [
        ("nothing", "the diff has no hunk"),
        ("@@ -1 +1 @@\n 1\n", "the diff changes nothing"),
        ("-1\n+one", "the diff has no hunk"),
        (
            "--- a\n+++ b\n@@ -1 +1 @@\n-1\n+2\n--- c\n+++ d\n@@ -1 +1 @@\n-1\n+2\n",
            "the diff is of several files",
        ),
    ],
)
def test_what_is_no_diff_of_one_file_is_refused(diff: str, said: str) -> None:
    assert failure(TEN, diff).startswith(said)


def test_a_very_large_change_is_one_change(tmp_path: Path) -> None:
    before = "".join(f"a{number}\n" for number in range(4000))
    after = "".join(f"b{number}\n" for number in range(4000))
    diff = unified_diff("f", f"x\n{before}y\n", f"x\n{after}y\n")
    assert diff.count("\n@@ ") == 1
    assert apply(f"x\n{before}y\n", diff) == f"x\n{after}y\n"
