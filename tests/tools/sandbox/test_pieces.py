"""The small parts of a run: kept output, newest lines, the launch, words, the own folder."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from octo_lab.tools.exec_env import Executed
from octo_lab.tools.sandbox.kept import Kept
from octo_lab.tools.sandbox.launch import launch_argv
from octo_lab.tools.sandbox.lines import NewestLines
from octo_lab.tools.sandbox.own_folder import claim, keep_out
from octo_lab.tools.sandbox.policy import MIB, Bounds
from octo_lab.tools.sandbox.words import exit_words, how_it_ended

PIECES = st.lists(st.binary(max_size=300), max_size=30)


@given(PIECES, st.integers(0, 200))
def test_the_head_and_the_tail_are_kept_however_the_stream_is_cut(
    pieces: list[bytes], limit: int
) -> None:
    kept, whole = Kept(limit), b"".join(pieces)
    for piece in pieces:
        kept.add(piece)

    head = limit * 2 // 3
    tail = limit - head
    lost = len(whole) - limit
    note = f"\n[… {lost} bytes omitted …]\n".encode()
    expected = whole[:head] + note + whole[len(whole) - tail :]
    assert kept.value() == (whole if lost <= 0 else expected)
    assert kept.total == len(whole)


def test_kept_output_takes_little_memory() -> None:
    kept = Kept(1000)
    for _ in range(1000):
        kept.add(b"x" * 65_536)

    assert len(kept._head) + len(kept._tail) < 200_000


@given(PIECES)
def test_the_newest_lines_are_the_last_whole_ones(pieces: list[bytes]) -> None:
    lines = NewestLines(most=3)
    for piece in pieces:
        lines.add(piece.replace(b"\r", b"").replace(b"\0", b"\n"))

    whole = b"".join(pieces).replace(b"\r", b"").replace(b"\0", b"\n").split(b"\n")[:-1]
    taken = lines.take()
    assert len(taken) <= 3
    if whole and whole[-1].isalnum():
        assert taken[-1] == whole[-1].decode(errors="replace")
    assert lines.take() == []


def test_a_progress_bar_is_its_last_state_and_a_wide_line_is_cut() -> None:
    lines = NewestLines()
    lines.add(b"10%\r50%\r100%\n\x1b[31mred\x1b[0m\n\n" + b"w" * 900 + b"\nunfinished")

    assert lines.take() == ["100%", " [31mred [0m", "w" * 400]


def test_a_command_enters_its_groups_and_bounds_itself_before_it_begins() -> None:
    bounds = Bounds(memory=MIB, file_size=2 * MIB, open_files=50)
    doors = (Path("/sys/fs/cgroup/a b/cgroup.procs"),)

    assert launch_argv(("ls", "$x"), bounds=bounds, doors=doors, address_space=True) == [
        *("/bin/sh", "-c"),
        "echo 0 > '/sys/fs/cgroup/a b/cgroup.procs' || exit 125\n"
        "ulimit -c 0 2>/dev/null\n"
        "ulimit -f 4096 2>/dev/null\n"
        "ulimit -n 50 2>/dev/null\n"
        "ulimit -v 1024 2>/dev/null\n"
        'exec "$@"',
        *("sh", "ls", "$x"),
    ]


def test_the_bounds_hold_for_real() -> None:
    script = "ulimit -c; ulimit -f; ulimit -n; ulimit -v"
    bounds = Bounds(memory=900 * MIB, file_size=2 * MIB, open_files=50)
    argv = launch_argv(("bash", "-c", script), bounds=bounds, address_space=True)

    ran = subprocess.run(argv, capture_output=True, check=True)

    assert ran.stdout.split() == [b"0", b"2048", b"50", b"921600"]


@pytest.mark.parametrize(
    ("code", "words"),
    [
        (0, "exit code 0"),
        (1, "exit code 1"),
        (128, "exit code 128"),
        (137, "exit code 137 (SIGKILL)"),
        (255, "exit code 255"),
        (-9, "ended by SIGKILL"),
        (-15, "ended by SIGTERM"),
        (-250, "ended by signal 250"),
    ],
)
def test_the_end_is_told_in_words(code: int, words: str) -> None:
    assert exit_words(code) == words
    assert how_it_ended(Executed(code=code, stdout=b"")) == words


def test_a_timeout_is_told_before_the_code() -> None:
    ran = Executed(code=-9, stdout=b"", timed_out=True, seconds=3.2)

    assert how_it_ended(ran) == "stopped after 3 s: it took too long"


def test_an_own_folder_that_was_there_stays(tmp_path: Path) -> None:
    (tmp_path / ".octo").mkdir()

    with keep_out(tmp_path) as notes:
        (tmp_path / ".octo" / "config.json").touch()

    assert notes == []
    assert (tmp_path / ".octo" / "config.json").exists()


@pytest.mark.parametrize("walled", [False, True])
@pytest.mark.parametrize("kind", ["folder", "file", "link"])
def test_one_that_appears_gets_another_name_whatever_it_is(
    tmp_path: Path, kind: str, walled: bool
) -> None:
    own = tmp_path / ".octo"

    with keep_out(tmp_path, walled=walled) as notes:
        own.rmdir()
        match kind:
            case "folder":
                own.mkdir()
            case "file":
                own.write_text("{}")
            case _:
                own.symlink_to("/x")

    assert [path.name[:23] for path in tmp_path.iterdir()] == ["octo-made-by-a-command-"]
    assert len(notes) == 1


def test_behind_walls_the_folder_is_its_owners_who_opened_it(tmp_path: Path) -> None:
    own = tmp_path / ".octo"

    with keep_out(tmp_path, walled=True) as notes:
        own.chmod(0o700)  # as another process of the owner does
        (own / "config.json").touch()

    assert (notes, [path.name for path in own.iterdir()]) == ([], ["config.json"])


@pytest.mark.parametrize("walled", [False, True])
def test_a_folder_that_was_claimed_stays(tmp_path: Path, walled: bool) -> None:
    own = tmp_path / ".octo"

    with keep_out(tmp_path, walled=walled) as notes, keep_out(tmp_path, walled=walled):
        claim(own)
        (own / "config.json").touch()

    assert (notes, [path.name for path in own.iterdir()]) == ([], ["config.json"])
    with keep_out(tmp_path, walled=walled):
        claim(own)
    assert own.exists()


def test_what_octo_lab_itself_puts_there_meanwhile_stays(tmp_path: Path) -> None:
    own = tmp_path / ".octo"

    with keep_out(tmp_path) as notes:
        own.chmod(0o700)
        (own / "config.json").touch()
        own.chmod(0)  # as for a root that needs no permission

    assert (notes, [path.name for path in own.iterdir()]) == ([], ["config.json"])


def test_its_place_is_taken_as_long_as_any_command_runs(tmp_path: Path) -> None:
    own = tmp_path / ".octo"
    own.mkdir(mode=0)  # left behind by a run that was killed

    with keep_out(tmp_path) as outer:
        with keep_out(tmp_path) as inner:
            assert own.is_dir()
        assert own.is_dir()

    assert (inner, outer, list(tmp_path.iterdir())) == ([], [], [])
