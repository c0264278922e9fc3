from __future__ import annotations

import shutil
import subprocess

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from octo_lab.tools.command_policy.families import families
from octo_lab.tools.command_policy.judge import judge_command
from octo_lab.tools.command_policy.parse import parse
from octo_lab.tools.command_policy.place import Place
from octo_lab.tools.command_policy.syntax import Unreadable

PLACE = Place(workspace="/home/ann/work", home="/home/ann")
SEEDS = (
    ("rm", "-rf", "/"),
    ("rm", "-r", "-f", "/home"),
    ("sudo", "rm", "-rf", "/etc"),
    ("mkfs.ext4", "/dev/sda1"),
    ("dd", "if=/dev/zero", "of=/dev/sda"),
    ("chmod", "-R", "777", "/"),
    ("git", "push", "--force"),
    ("git", "reset", "--hard"),
    ("git", "clean", "-fd"),
    ("git", "stash", "drop"),
    ("find", ".", "-delete"),
    ("tar", "-xf", "x", "--to-command=y"),
    ("sort", "--compress-program=x"),
    ("crontab", "x"),
    ("pip", "install", "x"),
    ("systemctl", "stop", "x"),
    ("git", "-c", "core.pager=x", "log"),
    ("curl", "https://example.org"),
    ("shutdown", "now"),
    ("env", "A=b", "kill", "-9", "-1"),
)
GAPS = (" ", "\t", "  ", " \\\n ", "${IFS}", "$IFS")


def octal(char: str) -> str:
    return f"$'\\{ord(char):03o}'"


def in_hex(char: str) -> str:
    return f"$'\\x{ord(char):02x}'"


SPELLINGS = (
    str, lambda char: f"'{char}'", lambda char: f'"{char}"', lambda char: f"\\{char}",
    lambda char: f"''{char}", lambda char: f'{char}""', lambda char: f"\\\n{char}", octal, in_hex,
    lambda char: f"$'{char}'", lambda char: f'$"{char}"', lambda char: f"$@{char}",
    lambda char: f"${{x}}{char}", lambda char: f"$(){char}",
)  # fmt: skip
WRAPS = (
    "{}", "sh -c {!r}", "bash -lc {!r}", "eval {!r}", "( {} )", "{{ {}; }}", "x=$({})", "echo `{}`",
    "true; {}", "true && {}", "true\n{}", "if true; then {}; fi", "f() {{ {}; }}; f",
    "nohup {} &", "timeout 5 {}", "env -i {}", "find . -exec {} \\;", "ls | xargs {}", "! {}",
    "cat <({})", "bash <<'E'\n{}\nE", "echo x | {}", "while {}; do :; done", ">x {}", "X=1 {}",
)  # fmt: skip


@st.composite
def disguised(draw: st.DrawFn) -> str:
    """A line that does what a seed does, or fails to, and looks like nothing."""
    words = []
    for word in draw(st.sampled_from(SEEDS)):
        words.append("".join(draw(st.sampled_from(SPELLINGS))(char) for char in word))
    line = words[0]
    for word in words[1:]:
        gap = draw(st.sampled_from(GAPS))
        named = gap.startswith("$I") and word[0].isalnum()  # else it is a variable of another name
        line += ("${IFS}" if named else gap) + word
    wrap = draw(st.sampled_from(WRAPS))
    if "!r" in wrap:
        quoted = "'" + line.replace("'", "'\\''") + "'"
        return wrap.replace("{!r}", quoted)
    return wrap.format(line)


@given(disguised())
@example("cat <(\\\nr\\\nm -rf /)")
@example("r``m -rf /")
def test_no_disguise_makes_a_dangerous_line_harmless(line: str) -> None:
    assert judge_command(line, PLACE).decision != "allow"


PIECES = (
    *" \t\n'\"\\`$(){}[]<>|&;#~*?=!-/.:0ax", "rm", " -rf ", "EOF", "<<", "$(", "if ", "fi", " do ",
    "done", "case ", " in ", "esac", "sh -c ", "eval ",
)  # fmt: skip
PLAIN = (*" \n$(){}<>|&;~*?=!-/.:0ax", "if ", "fi", " do ", "done", "f()", "time ", "$(", "do ")


@given(st.lists(st.sampled_from(PIECES), max_size=60).map("".join))
def test_whatever_is_typed_gets_a_verdict(line: str) -> None:
    verdict = judge_command(line, PLACE)
    assert (verdict.decision in {"allow", "ask", "deny"}, bool(verdict.reason)) == (True, True)


@given(st.lists(st.sampled_from(PLAIN), max_size=30).map("".join), st.sampled_from("\n;|&"))
def test_where_nothing_is_quoted_what_stands_before_hides_nothing(before: str, joint: str) -> None:
    if "<<" in before or before.endswith(("<", ">")):  # a document, or the target of a redirection
        return
    assert judge_command(f"{before}{joint}rm -rf /", PLACE).decision != "allow"


@pytest.mark.skipif(not shutil.which("bash"), reason="bash: no shell")
@given(st.text(alphabet="ab'\"\\ \n-#=", max_size=24))
def test_words_are_cut_as_bash_cuts_them(text: str) -> None:
    """Bash is the oracle for quotes, escapes and comments; the text expands and runs nothing."""
    line = f"printf '<%s>' {text}"
    told = subprocess.run(
        [shutil.which("bash") or "", "--norc", "-c", line],
        capture_output=True,
        text=True,
        timeout=20,
        check=False,
        env={"PATH": "/nowhere"},
    )
    try:
        found = parse(line)
    except Unreadable:
        return
    words = [word.text for word in found[0].words[2:]]
    if not text.rstrip("\n").endswith("\\"):  # versions of Bash differ on a last backslash
        assert told.stdout == ("".join(f"<{word}>" for word in words) or "<>")


@pytest.mark.parametrize(
    ("line", "covers"),
    [
        ("git status", ("git status",)),
        ("git status --short && git diff | head", ("git diff", "git status", "head")),
        ("pytest -q tests", ("pytest",)),
        ("npm test", ("npm test",)),
        ("git -c core.pager=x status", ("git -c core.pager=x status",)),
        ("git -c user.name=x status", ("git -c user.name=x status",)),
        ("git push", ("git push",)),
        ("rm -rf build", ("rm -rf build",)),
        ("env pytest", ("env pytest",)),
        ("python x.py", ("python x.py",)),
        ("sh -c 'git status'", ("sh -c 'git status'",)),
        ("A=b git status", ("A=b git status",)),
        ("$x status", ("$x status",)),
    ],
)
def test_a_standing_yes_covers_a_family_or_the_very_line(line: str, covers: tuple[str]) -> None:
    assert families(line, PLACE) == covers
