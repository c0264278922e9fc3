"""The whole command line of bubblewrap."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from octo_lab.tools.sandbox.bwrap import ETC, FENCES, Layout, Lent, bwrap_argv, find_layout
from octo_lab.tools.sandbox.policy import Bounds, Job

LAYOUT = Layout(
    folders=("/usr",), links=(("/bin", "usr/bin"),), kernel=("sys", "kcore"), program="/bin/bwrap"
)
JOB = Job(
    argv=("ls", "-l"),
    workspace=Path("/w"),
    folder="sub",
    readable=(Path("/py"),),
    fixed=(Path("/w/.venv"),),
    hidden_folders=(Path("/w/.octo"),),
    hidden_files=(Path("/w/.netrc"),),
    bounds=Bounds(scratch=1000),
)
HEAD = [
    *("--unshare-pid", "--unshare-ipc", "--unshare-uts", "--unshare-cgroup-try"),
]
WALLS = ["--die-with-parent", "--new-session", "--cap-drop", "ALL", "--hostname", "octo"]
SYSTEM = ["--ro-bind", "/usr", "/usr", "--symlink", "usr/bin", "/bin"]
REST = [
    *("--dev", "/dev", "--proc", "/proc"),
    *("--ro-bind", "/proc/sys", "/proc/sys", "--ro-bind", "/dev/null", "/proc/kcore"),
    *("--size", "1000", "--tmpfs", "/tmp", "--size", "1000", "--tmpfs", "/var/tmp"),
    *("--ro-bind", "/py", "/py", "--bind", "/w", "/w"),
    *("--ro-bind", "/w/.venv", "/w/.venv"),
    *("--tmpfs", "/w/.octo", "--remount-ro", "/w/.octo"),
    *("--ro-bind", "/dev/null", "/w/.netrc", "--remount-ro", "/"),
    *("--chdir", "/w/sub", "--", "ls", "-l"),
]


def etc(*more: str) -> list[str]:
    return [p for n in (*ETC, *more) for p in ("--ro-bind-try", f"/etc/{n}", f"/etc/{n}")]


def test_nothing_is_there_but_the_system_and_the_workspace() -> None:
    fence = ["--unshare-user", "--disable-userns"]

    assert bwrap_argv(JOB, layout=LAYOUT) == [
        *("/bin/bwrap", *fence, *HEAD, "--unshare-net", *WALLS, *SYSTEM, *etc(), *REST)
    ]


def test_with_a_network_names_can_be_looked_up_too() -> None:
    argv = bwrap_argv(
        replace(JOB, network=True), layout=LAYOUT, fence=(), lent=Lent(info=7, filter=9)
    )

    names = ("resolv.conf", "hosts", "host.conf", "gai.conf")
    assert argv == [
        "/bin/bwrap",
        "--info-fd",
        "7",
        "--seccomp",
        "9",
        *HEAD,
        *WALLS,
        *SYSTEM,
        *etc(*names),
        *REST,
    ]


def test_what_leads_to_something_hidden_cannot_be_renamed() -> None:
    hidden = (Path("/w/.config/a/gcloud"), Path("/py/x/y"))

    argv = bwrap_argv(replace(JOB, fixed=(), hidden_folders=hidden), layout=LAYOUT)

    work = argv.index("--bind")
    assert argv[work : work + 15] == [
        *("--bind", "/w", "/w", "--bind", "/w/.config", "/w/.config"),
        *("--bind", "/w/.config/a", "/w/.config/a"),
        *("--tmpfs", "/w/.config/a/gcloud", "--remount-ro", "/w/.config/a/gcloud"),
        *("--tmpfs", "/py/x/y"),
    ]


def test_no_file_of_keys_or_passwords_is_among_those_of_the_system() -> None:
    assert not {"shadow", "gshadow", "sudoers", "ssh", "ssl", "ssl/private", "krb5.keytab"} & {*ETC}


def test_the_strictest_fence_is_tried_first() -> None:
    assert FENCES == (("--unshare-user", "--disable-userns"), ("--unshare-user",), ())


def test_the_layout_tells_folders_from_links(tmp_path: Path) -> None:
    (tmp_path / "usr").mkdir()
    (tmp_path / "bin").symlink_to("usr/bin")
    names = tuple(str(tmp_path / name) for name in ("usr", "bin", "lib64"))

    found = find_layout("/bin/bwrap", names)

    assert found.folders == (names[0],)
    assert found.links == ((names[1], "usr/bin"),)
    assert "sys" in found.kernel
    assert found.program == "/bin/bwrap"
