"""Where control groups may be made, as far as the kernel's list says."""

from __future__ import annotations

from pathlib import Path

from octo_lab.tools.sandbox.cgroup import Groups, Place, find_places, make_groups
from octo_lab.tools.sandbox.policy import Bounds

BOUNDS = Bounds(processes=7, memory=99)


def test_version_one_has_a_place_for_each_controller(tmp_path: Path) -> None:
    own = "8:pids:/\n4:memory:/a/b\n2:cpu,cpuacct:/x\n1:name=systemd:/\n0::/\n"

    assert find_places(own, tmp_path) == [
        Place(folder=tmp_path / "pids", controllers=("pids",), version=1),
        Place(folder=tmp_path / "memory" / "a" / "b", controllers=("memory",), version=1),
    ]


def test_version_two_has_a_place_beside_and_one_below(tmp_path: Path) -> None:
    (tmp_path / "cgroup.controllers").touch()
    both = ("pids", "memory")

    assert find_places("0::/user/me\n", tmp_path) == [
        Place(folder=tmp_path / "user", controllers=both, version=2),
        Place(folder=tmp_path / "user" / "me", controllers=both, version=2),
    ]
    assert find_places("0::/\n", tmp_path) == [Place(folder=tmp_path, controllers=both, version=2)]


def test_nothing_is_bounded_where_nothing_can_be_made(tmp_path: Path) -> None:
    gone = Place(folder=tmp_path / "gone", controllers=("pids",), version=1)
    # An ordinary folder has no files of bounds, and gets none.
    plain = Place(folder=tmp_path, controllers=("pids", "memory"), version=2)

    assert make_groups(BOUNDS, [gone, plain]) == Groups()
    assert list(tmp_path.iterdir()) == []


def test_a_process_that_cannot_be_seen_is_not_signalled(tmp_path: Path) -> None:
    (tmp_path / "cgroup.procs").write_text("0\n")

    groups = Groups(folders=(tmp_path,))

    assert groups.members() == set()
    assert groups.kill(0.0)
