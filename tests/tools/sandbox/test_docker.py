"""The whole command lines of Docker, and what may not be mounted."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from octo_lab.core.errors import ToolFailed
from octo_lab.tools.sandbox.docker import check_source, docker_exec, docker_remove, docker_run
from octo_lab.tools.sandbox.policy import MIB, Bounds, Job

JOB = Job(
    argv=("ls", "-l"),
    workspace=Path("/srv/w"),
    folder="sub",
    environ={"A": "secret"},
    readable=(Path("/srv/lib"),),
    fixed=(Path("/srv/w/.venv"),),
    hidden_folders=(Path("/srv/w/.octo"), Path("/srv/lib/x")),
    hidden_files=(Path("/srv/w/.netrc"),),
    bounds=Bounds(memory=100, file_size=5 * MIB, scratch=70, processes=9, open_files=8, cpus=1.5),
    name="octo-1",
)
WALLS = [
    *("docker", "run", "--rm", "--interactive", "--init", "--name", "octo-1"),
    *("--security-opt", "no-new-privileges", "--cap-drop", "ALL", "--network", "none"),
    *("--cpus", "1.5", "--memory", "100", "--memory-swap", "100", "--pids-limit", "9"),
    *("--ulimit", "fsize=5242880", "--ulimit", "core=0", "--ulimit", "nofile=8"),
    *("--tmpfs", "/tmp:exec,size=70", "--user", "1:2"),
]
REST = [
    *("--env", "A", "--workdir", "/workspace/sub", "--entrypoint", "ls", "img", "-l"),
]


@pytest.mark.parametrize("mounts", ["ro", "rw"])
def test_a_container_has_the_workspace_and_no_rights(mounts: str) -> None:
    argv = docker_run(JOB, image="img", mounts="ro" if mounts == "ro" else "rw", user="1:2")

    assert argv == [
        *WALLS,
        *("--volume", f"/srv/w:/workspace:{mounts}", "--volume", "/srv/lib:/srv/lib:ro"),
        *("--volume", "/srv/w/.venv:/workspace/.venv:ro"),
        *("--tmpfs", "/workspace/.octo:ro,size=4096"),
        *("--volume", "/dev/null:/workspace/.netrc:ro"),
        *REST,
    ]


def test_a_container_may_have_nothing_of_this_machine() -> None:
    argv = docker_run(JOB, image="img", mounts="none", user="1:2")

    assert argv == [*WALLS, "--tmpfs", "/workspace:exec,mode=1777,size=70", *REST]


def test_only_a_set_network_is_joined() -> None:
    argv = docker_run(replace(JOB, network=True), image="img")

    assert argv[argv.index("--network") + 1] == "bridge"


def test_the_values_of_variables_are_in_no_command_line() -> None:
    assert docker_exec("box", ("ls",), {"A": "secret"}) == [
        *("docker", "exec", "--interactive", "--env", "A", "box", "ls")
    ]
    assert "secret" not in " ".join(docker_run(JOB, image="img"))
    assert docker_remove("box") == ["docker", "rm", "--force", "--volumes", "box"]


@pytest.mark.parametrize(
    "path",
    [
        *("/", "/etc", "/etc/ssl", "/proc", "/proc/1", "/sys", "/dev", "/dev/shm"),
        *("/var/run/docker.sock", "/home/u/docker.sock", "/srv/../etc", "/srv/a:b"),
        *("/srv/a\rb", "/srv/a\nb", "/srv/a\0b"),
    ],
)
def test_what_may_not_be_mounted_is_refused(path: str) -> None:
    with pytest.raises(ToolFailed, match="mounted"):
        check_source(Path(path))


def test_a_link_to_what_may_not_be_mounted_is_refused(tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to("/etc")

    with pytest.raises(ToolFailed, match="mounted"):
        docker_run(replace(JOB, workspace=tmp_path / "link"), image="img")
