"""Commands that really try to get out of the sandbox. A weaker sandbox fails every test here.

What is tried would do no harm if it succeeded: whoever works on the sandbox breaks it now and then.
"""

from __future__ import annotations

import os
import resource
import socket
import subprocess
import sys
from collections.abc import AsyncIterator, Iterator
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from uuid import uuid4

import anyio
import psutil
import pytest

from octo_lab.core.errors import ToolFailed
from octo_lab.tools.exec_env import Executed, Execution
from octo_lab.tools.sandbox.local import Home, LocalExec
from octo_lab.tools.sandbox.policy import MIB, Bounds, SandboxPolicy

pytestmark = [pytest.mark.anyio, pytest.mark.bwrap]

CANARY = "canary-6f1d0c"
CGROUPS = Path("/sys/fs/cgroup")


@dataclass
class Cage:
    """A workspace with octo_lab's folders in it, beside a home folder with keys."""

    env: LocalExec
    workspace: Path
    home: Path
    data: Path
    outside: Path

    async def run(self, script: str, *, seconds: float = 20.0) -> Executed:
        return await self.env.exec(
            Execution(argv=("/bin/bash", "-c", script), timeout=seconds, output=10_000)
        )

    async def python(self, code: str, *, seconds: float = 20.0) -> str:
        argv = ("python3", "-c", code)
        ran = await self.env.exec(Execution(argv=argv, timeout=seconds))
        return (ran.stdout + ran.stderr).decode()


def make_cage(folder: Path, policy: SandboxPolicy | None = None) -> Cage:
    workspace, home = folder / "work", folder / "home"
    data, outside = folder / "data", folder / "outside.txt"
    for place in (workspace / ".octo", home / ".ssh", data):
        place.mkdir(parents=True)
        (place / "secret").write_text(CANARY)
    outside.write_text(CANARY)
    made = Home(
        workspace=workspace,
        private=(data,),
        environ={"PATH": os.defpath, "MY_TOKEN": CANARY, "URL": f"https://u:{CANARY}@host/"},
        policy=policy or SandboxPolicy(mode="bwrap"),
        home=home,
    )
    return Cage(LocalExec(made), workspace, home, data, outside)


@pytest.fixture
async def cage(tmp_path: Path) -> AsyncIterator[Cage]:
    cage = make_cage(tmp_path)
    assert (await cage.env.choice()).kind == "bwrap"
    yield cage
    assert groups_here() == [], "a control group was left"


def groups_here() -> list[Path]:
    return list(CGROUPS.glob(f"**/octo-{os.getpid()}-*"))


def alive(token: str) -> list[list[str]]:
    """The command lines of processes outside that hold the token."""
    found = []
    for process in psutil.process_iter():
        with suppress(psutil.Error):
            if process.pid != os.getpid() and any(token in word for word in process.cmdline()):
                found.append(process.cmdline())
    return found


def open_files() -> int:
    return psutil.Process().num_fds()


def sleeper(**variables: str) -> subprocess.Popen[bytes]:
    return subprocess.Popen(["sleep", "60"], env=variables)


def owner_of(code: str) -> subprocess.Popen[bytes]:
    return subprocess.Popen([sys.executable, "-c", code])


def said(ran: Executed) -> str:
    return (ran.stdout + ran.stderr).decode(errors="replace")


async def test_what_lies_outside_is_not_there(cage: Cage) -> None:
    ran = await cage.run(
        f"cat {cage.outside} {cage.home}/.ssh/secret {cage.data}/secret ../outside.txt"
        f" ../../*/outside.txt /etc/shadow /root/.ssh/* ~/.ssh/*; ls -d /home/* /run/* /sys/* /mnt"
    )

    assert CANARY not in said(ran)
    assert ran.code != 0
    assert not ran.stdout


async def test_octo_labs_own_folder_in_the_workspace_is_empty_and_stays(cage: Cage) -> None:
    ran = await cage.run(
        "ls -A .octo; cat .octo/secret; echo evil > .octo/config.json; mv .octo gone;"
        " rm -rf .octo; umount .octo; mkdir sub; mv .octo/* sub; ln -s x .octo/x; ls -A sub"
    )

    assert CANARY not in said(ran)
    assert not ran.stdout
    assert [path.name for path in (cage.workspace / ".octo").iterdir()] == ["secret"]
    assert (cage.workspace / ".octo" / "secret").read_text() == CANARY


async def test_an_own_folder_is_not_made_even_while_a_command_runs(tmp_path: Path) -> None:
    cage = make_cage(tmp_path)
    own = cage.workspace / ".octo"
    (own / "secret").unlink()
    own.rmdir()
    seen: list[list[Path]] = []

    async def look() -> None:
        while not (cage.workspace / "ready").exists():  # noqa: ASYNC110 - made by the command
            await anyio.sleep(0.02)
        seen.append(list(own.iterdir()))

    script = (
        "rmdir .octo; mv .octo x; rm -rf .octo; chmod 777 .octo; mkdir -p .octo;"
        " echo '{}' > .octo/config.json; touch ready; sleep 0.3"
    )
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(look)
        ran = await cage.run(script)

    assert (seen, ran.notes, own.exists()) == ([[]], (), False)


async def test_the_users_settings_are_not_made_where_the_home_folder_is_the_workspace(
    tmp_path: Path,
) -> None:
    settings = tmp_path / ".config" / "octo_lab"
    home = Home(
        workspace=tmp_path, private=(settings,), policy=SandboxPolicy(mode="bwrap"), home=tmp_path
    )

    script = "mkdir -p .config/octo_lab; echo '{}' > .config/octo_lab/config.json; mv .config x"
    await LocalExec(home).exec(Execution(argv=("/bin/bash", "-c", script)))

    assert list(settings.iterdir()) == []
    assert not (tmp_path / "x").exists()


async def test_git_is_used_but_not_told_what_to_run(cage: Cage) -> None:
    await cage.run("git init -q")
    git = cage.workspace / ".git"
    before = (git / "config").read_bytes(), sorted((git / "hooks").iterdir())

    ran = await cage.run(
        "echo x > .git/hooks/post-commit; chmod +x .git/hooks/*; mv .git/hooks y; mv .git y;"
        " git config core.pager x; echo '[core] pager = x' >> .git/config; rm -f .git/config;"
        " echo 1 > a; git add -A; git -c user.name=a -c user.email=b commit -qm first;"
        " git log --format=%s; git checkout -q -b other; git status --short"
    )

    assert ran.stdout == b"first\n"
    assert ((git / "config").read_bytes(), sorted((git / "hooks").iterdir())) == before


async def test_a_script_leaves_nothing_that_is_obeyed_later(cage: Cage) -> None:
    ran = await cage.run(
        "mkdir -p .git/hooks sub/.octo; printf '#!/bin/sh\\ntrue\\n' > .git/hooks/pre-commit;"
        " chmod +x .git/hooks/pre-commit; echo '[core] fsmonitor = ./x' > .git/config;"
        " echo obey me > AGENTS.md; echo A=b > .env; echo '{}' > sub/.octo/config.json"
    )

    assert len(ran.notes) == 5
    obeyed = ("AGENTS.md", ".env", ".git/config", ".git/hooks/pre-commit", "sub/.octo")
    assert not [name for name in obeyed if (cage.workspace / name).exists()]


async def test_keys_are_hidden_when_the_home_folder_is_the_workspace(tmp_path: Path) -> None:
    cage = make_cage(tmp_path)
    (cage.home / ".netrc").write_text(CANARY)
    (cage.home / "notes.txt").write_text("mine")
    place = Home(workspace=cage.home, environ={}, policy=cage.env.home.policy, home=cage.home)
    cage.env = LocalExec(place)

    ran = await cage.run("cat notes.txt .ssh/secret .netrc; cp -r .ssh copy; cat copy/*; ls .ssh")

    assert ran.stdout == b"mine"
    assert CANARY not in said(ran)


async def test_keys_in_a_folder_that_was_renamed_are_hidden_from_the_next_command(
    tmp_path: Path,
) -> None:
    cage = make_cage(tmp_path)
    keys = cage.home / ".subversion" / "auth"
    keys.mkdir(parents=True)
    (keys / "key").write_text(CANARY)
    place = Home(workspace=cage.home, environ={}, policy=cage.env.home.policy, home=cage.home)
    cage.env = LocalExec(place)

    first = await cage.run(
        "mv .subversion seen; mkdir .subversion; cp -r .subversion copy; touch .subversion/mine"
    )
    second = await cage.run("cat */auth/key .subversion/auth/key copy/*/key; ls .subversion")

    assert CANARY not in said(first) + said(second)
    assert second.stdout == b"auth\nmine\n"
    assert keys.joinpath("key").read_text() == CANARY


async def test_what_starts_with_a_shell_or_a_kernel_is_only_read_in_a_home_folder(
    tmp_path: Path,
) -> None:
    cage = make_cage(tmp_path)
    startup = cage.home / ".ipython" / "profile_default" / "startup"
    startup.mkdir(parents=True)
    (cage.home / ".bashrc").write_text("mine\n")
    place = Home(workspace=cage.home, environ={}, policy=cage.env.home.policy, home=cage.home)
    cage.env = LocalExec(place)

    ran = await cage.run(
        "echo evil >> .bashrc; echo evil > .ipython/profile_default/startup/a.py; rm -f .bashrc;"
        " mv .bashrc b; mv .ipython i; mv .ipython/profile_default .ipython/q; cat .bashrc"
    )

    assert ran.stdout == b"mine\n"
    assert (cage.home / ".bashrc").read_text() == "mine\n"
    assert list(startup.iterdir()) == []


async def test_a_program_of_the_sandbox_s_name_in_the_workspace_is_not_run(cage: Cage) -> None:
    place = replace(cage.env.home, environ={"PATH": f"{cage.workspace}:{os.defpath}"})
    cage.env = LocalExec(place)
    fake = f"#!/bin/sh\\ntouch {cage.home}/escaped\\n"

    await cage.run(f"for p in bwrap sh python3; do printf '{fake}' > $p; chmod +x $p; done")
    after = await cage.run("echo still walled; cat ../outside.txt")

    assert after.stdout == b"still walled\n"
    assert not (cage.home / "escaped").exists()


async def test_links_that_are_swapped_in_a_loop_lead_nowhere(cage: Cage) -> None:
    script = f"""
        mkdir real; echo fine > real/secret; ln -s {cage.data} link
        for i in $(seq 300); do
            mv real door && cat door/secret; mv door real; mv link door; cat door/secret
            mv door link
        done"""

    ran = await cage.run(script)

    assert "fine" in said(ran)
    assert CANARY not in said(ran)


async def test_files_are_not_read_through_links_that_a_command_swaps(cage: Cage) -> None:
    swap = f"""
        mkdir door real; echo fine > door/secret; ln -s {cage.data} link; touch ready
        while :; do mv -T door real; mv -T link door; mv -T door link; mv -T real door; done"""
    seen: set[bytes] = set()

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(cage.run, swap)
        with anyio.fail_after(20):
            while not await cage.env.file_exists("ready"):  # noqa: ASYNC110 - a file
                await anyio.sleep(0.01)
        for _ in range(500):
            with suppress(ToolFailed):
                seen.add(await cage.env.read_file("door/secret"))
            with suppress(ToolFailed):
                await cage.env.write_file("door/made", b"x")
        tasks.cancel_scope.cancel()

    assert seen <= {b"fine\n"}
    assert [path.name for path in cage.data.iterdir()] == ["secret"]


async def test_no_hard_link_reaches_outside(cage: Cage) -> None:
    ran = await cage.run(
        f"ln {cage.outside} a; ln /etc/passwd b; ln /usr/bin/env c; cp -l /etc/passwd d;"
        " ln .octo/secret e; ls -A | grep -v '^.octo$'"
    )

    assert not ran.stdout


async def test_other_processes_and_their_files_are_not_seen(cage: Cage) -> None:
    with sleeper(LEAK=CANARY) as other:
        ran = await cage.run(
            f"cat /proc/{other.pid}/environ /proc/{os.getpid()}/environ;"
            f"cat /proc/*/environ /proc/*/cmdline | tr '\\0' '\\n';"
            f"cat /proc/1/root{cage.outside} /proc/*/root{cage.outside} /proc/*/cwd/../outside.txt;"
            f"cat /proc/self/task/*/root{cage.outside}"
        )
        count = await cage.run("ls -d /proc/[0-9]* | wc -l")
        other.kill()

    assert CANARY not in said(ran)
    assert int(count.stdout) < 12


async def test_secret_variables_are_not_told(cage: Cage) -> None:
    ran = await cage.run("env; cat /proc/self/environ /proc/1/environ")

    assert b"PATH=" in ran.stdout
    assert CANARY not in said(ran)


async def test_nothing_outside_can_be_written(cage: Cage) -> None:
    ran = await cage.run(
        f"for place in / /usr /usr/bin /etc /bin /lib /root /proc /proc/sys/kernel /var {cage.home}"
        f" {cage.data}; do touch $place/octo-was-here 2>/dev/null"
        " && echo wrote $place && rm $place/octo-was-here; done; : >> /etc/passwd && echo passwd;"
        " chmod --reference=/usr/bin/env /usr/bin/env && echo chmod"
    )

    assert not ran.stdout
    assert sorted(path.name for path in cage.workspace.parent.iterdir()) == [
        *("data", "home", "outside.txt", "work")
    ]


async def test_the_kernel_s_settings_cannot_be_opened_for_writing(cage: Cage) -> None:
    code = """
import os
for folder, inner, files in os.walk("/proc"):
    inner[:] = [name for name in inner if not name.isdigit() and "self" not in name]
    for name in files:
        path = os.path.join(folder, name)
        if "/pressure/" in path:
            continue
        try:
            os.close(os.open(path, os.O_WRONLY | os.O_NONBLOCK))
        except OSError:
            continue
        print(path)
"""

    assert await cage.python(code) == ""


async def test_nothing_can_be_mounted_or_gained(cage: Cage) -> None:
    ran = await cage.run(
        "mount -t tmpfs none . && echo mounted; umount -l .octo && echo unmounted;"
        " unshare -Ur true && echo namespace; unshare -m true && echo mounts;"
        " chroot / true && echo chroot; mknod disk b 8 0 && echo node;"
        " grep -E 'Cap(Prm|Eff|Bnd)|NoNewPrivs' /proc/self/status; chown 1 . && echo chown;"
        ' hostname "$(hostname)" && echo hostname'
    )

    lines = dict(line.split(":\t") for line in ran.stdout.decode().splitlines())
    assert lines == {
        "CapPrm": "0" * 16,
        "CapEff": "0" * 16,
        "CapBnd": "0" * 16,
        "NoNewPrivs": "1",
    }


async def test_no_process_outside_can_be_signalled_or_traced(cage: Cage) -> None:
    with sleeper() as other:
        code = f"""
import ctypes, os
for pid in ({os.getpid()}, {other.pid}):
    for act in (lambda: os.kill(pid, 0), lambda: open(f"/proc/{{pid}}/mem")):
        try:
            act(); print("reached", pid)
        except OSError:
            pass
if ctypes.CDLL(None).ptrace(16, {other.pid}, 0, 0) == 0: print("traced")
"""
        reached = await cage.python(code)
        killed = await cage.run(f"kill -9 {other.pid}")

        assert reached == ""
        assert killed.code == 1
        assert other.poll() is None
        other.kill()


@pytest.fixture
def canary_servers() -> Iterator[tuple[list[socket.socket], str]]:
    """Listeners that nobody may reach: TCP, UDP, an abstract name."""
    name = f"octo-{uuid4().hex}"
    tcp, udp = socket.socket(), socket.socket(type=socket.SOCK_DGRAM)
    abstract = socket.socket(socket.AF_UNIX)
    tcp.bind(("127.0.0.1", 0))
    udp.bind(("127.0.0.1", 0))
    abstract.bind(f"\0{name}")
    for server in (tcp, abstract):
        server.listen()
    yield [tcp, udp, abstract], name
    for server in (tcp, udp, abstract):
        server.close()


async def test_no_server_is_reached(
    cage: Cage, canary_servers: tuple[list[socket.socket], str]
) -> None:
    servers, name = canary_servers
    tcp, udp = (server.getsockname()[1] for server in servers[:2])
    own = {address.address for all_of in psutil.net_if_addrs().values() for address in all_of}
    code = f"""
import socket
for host in {["127.0.0.1", "localhost", "0.0.0.0", "1.1.1.1", *sorted(own)]!r}:
    for kind, port in ((socket.SOCK_STREAM, {tcp}), (socket.SOCK_DGRAM, {udp})):
        try:
            s = socket.socket(type=kind); s.settimeout(1)
            s.connect((host, port)); s.send(b"x"); kind == 1 and print("reached", host, kind)
        except OSError: pass
try:
    socket.socket(socket.AF_UNIX).connect("\\0{name}"); print("reached abstract")
except OSError: pass
"""

    assert await cage.python(code) == ""
    for server in servers:
        server.setblocking(False)
        with pytest.raises(BlockingIOError):
            server.recv(1) if server.type == socket.SOCK_DGRAM else server.accept()


async def test_no_socket_reaches_past_the_network_s_walls(cage: Cage) -> None:
    code = """
import ctypes, errno, socket
for family in range(46):
    for kind in (1, 2, 3, 5):
        try:
            socket.socket(family, kind).close()
        except OSError:
            continue
        print(family, end=" ")
        break
try:
    socket.socketpair(40, 1)
except OSError as exc:
    print(exc.errno == errno.EAFNOSUPPORT)
libc = ctypes.CDLL(None, use_errno=True)
print(libc.syscall(425, 1, ctypes.create_string_buffer(200)), ctypes.get_errno() == errno.ENOSYS)
"""

    assert await cage.python(code) == "1 2 10 16 True\n-1 True\n"


async def test_with_a_network_the_same_server_is_reached(
    tmp_path: Path, canary_servers: tuple[list[socket.socket], str]
) -> None:
    cage = make_cage(tmp_path, SandboxPolicy(mode="bwrap", network=True))
    port = canary_servers[0][0].getsockname()[1]

    ran = await cage.run(f"exec 3<>/dev/tcp/127.0.0.1/{port} && echo reached")

    assert ran.stdout == b"reached\n"


BACKGROUND = {
    "plain": "(sleep 300; : TOKEN) &",
    "setsid": "setsid bash -c 'sleep 300; : TOKEN' &",
    "nohup": "nohup bash -c 'sleep 300; : TOKEN' &",
    "double fork": "(setsid bash -c 'trap \"\" TERM HUP INT; (sleep 300; : TOKEN) & exit' &);",
    "disowned": "bash -c 'exec -a innocent sleep 300; : TOKEN' & disown;",
}


@pytest.mark.parametrize("how", BACKGROUND)
async def test_what_runs_in_the_background_ends_with_its_command(cage: Cage, how: str) -> None:
    token = uuid4().hex
    script = BACKGROUND[how].replace("TOKEN", token)

    with anyio.fail_after(10):
        ran = await cage.run(f"{script} echo ok", seconds=60)

    assert (ran.code, ran.timed_out, ran.stdout) == (0, False, b"ok\n")
    assert alive(token) == []


async def test_a_command_that_ignores_signals_ends_at_its_deadline(cage: Cage) -> None:
    token = uuid4().hex

    with anyio.fail_after(20):
        ran = await cage.run(
            f"trap '' TERM INT HUP QUIT; echo on; while :; do sleep 1; : {token}; done", seconds=1
        )

    assert (ran.timed_out, ran.stdout) == (True, b"on\n")
    assert alive(token) == []


async def test_a_command_may_clean_up_when_its_time_is_over(cage: Cage) -> None:
    ran = await cage.run("trap 'echo bye; exit 3' TERM; while :; do sleep 0.1; done", seconds=1)

    assert (ran.code, ran.timed_out, ran.stdout) == (3, True, b"bye\n")


async def test_a_fork_storm_is_bounded_and_ends_with_its_call(tmp_path: Path) -> None:
    bounds = Bounds(processes=100)
    cage = make_cage(tmp_path, SandboxPolicy(mode="bwrap", bounds=bounds))
    bounded = "pids" in (await cage.env.choice()).held
    storm = "b() { b | b & }; b" if bounded else "for i in $(seq 2000); do sleep 300 & done"
    token = uuid4().hex

    with anyio.fail_after(30):
        ran = await cage.run(f": {token}; {storm}; sleep 60", seconds=2)

    assert ran.timed_out or ran.code != 0
    assert alive(token) == []
    assert (await cage.run("echo still well")).stdout == b"still well\n"


async def test_without_a_process_limit_a_storm_ends_with_its_call(cage: Cage) -> None:
    cage.env._choice = replace(await cage.env.choice(), held=frozenset())
    token = uuid4().hex

    with anyio.fail_after(30):
        ran = await cage.run(
            f"trap '' TERM; while :; do (trap '' TERM; setsid sleep 300.75) & done; : {token}",
            seconds=1,
        )

    assert ran.timed_out
    assert alive(token) == []
    assert not [line for line in alive("sleep") if line == ["sleep", "300.75"]]


async def test_a_gigabyte_of_output_is_drained_in_little_memory(cage: Cage) -> None:
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss

    ran = await cage.run("echo first; head -c 1000000000 /dev/zero; echo last", seconds=100)

    assert ran.code == 0
    assert ran.stdout.startswith(b"first\n")
    assert ran.stdout.endswith(b"last\n")
    assert b"bytes omitted" in ran.stdout
    assert len(ran.stdout) < 11_000
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 30_000


async def test_memory_and_files_are_bounded(tmp_path: Path) -> None:
    bounds = Bounds(memory=300 * MIB, file_size=5 * MIB, scratch=20 * MIB)
    cage = make_cage(tmp_path, SandboxPolicy(mode="bwrap", bounds=bounds))

    eaten = await cage.python("x = b'x' * 600_000_000; print('had it')")
    written = await cage.run("head -c 9000000 /dev/zero > big; stat -c %s big")
    scratch = await cage.run("for i in $(seq 9); do head -c 4000000 /dev/zero > /tmp/$i; done")

    assert "had it" not in eaten
    assert written.stdout == f"{5 * MIB}\n".encode()
    assert b"No space left" in scratch.stderr


async def test_calls_that_are_cancelled_at_any_moment_leave_nothing(cage: Cage) -> None:
    await cage.run("true")
    descriptors = open_files()
    token = uuid4().hex
    script = f"trap '' TERM; (setsid sleep 300 &) ; sleep 300; : {token}"

    for step in range(20):
        with anyio.move_on_after(step * 0.004) as scope:
            await cage.run(script if step % 4 else script.removeprefix("trap '' TERM; "))
        assert scope.cancelled_caught
        assert alive(token) == []

    assert open_files() <= descriptors


async def test_when_we_are_killed_everything_dies_with_us(cage: Cage) -> None:
    token = uuid4().hex
    code = f"""
import anyio
from pathlib import Path
from octo_lab.tools.exec_env import Execution
from octo_lab.tools.sandbox.local import Home, LocalExec
env = LocalExec(Home(workspace=Path({str(cage.workspace)!r})))
anyio.run(env.exec, Execution(argv=("sh", "-c", "setsid sleep 300 & sleep 300; : {token}")))
"""
    with owner_of(code) as owner:
        with anyio.fail_after(30):
            while len(alive(token)) < 4:  # noqa: ASYNC110 - we, the sandbox twice, sh
                await anyio.sleep(0.05)
        owner.kill()

    with anyio.fail_after(10):
        while alive(token):  # noqa: ASYNC110 - processes
            await anyio.sleep(0.05)


async def test_two_at_once_share_the_workspace_and_nothing_else(cage: Cage) -> None:
    results: dict[str, Executed] = {}

    async def one(name: str, other: str) -> None:
        script = f"echo {name} | tee /tmp/mine {name}; while [ ! -e {other} ]; do sleep 0.02; done"
        results[name] = await cage.run(f"{script}; sleep 0.1; cat /tmp/mine {other}; pgrep -c bash")

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(one, "a", "b")
        tasks.start_soon(one, "b", "a")

    assert {name: ran.stdout for name, ran in results.items()} == {
        "a": b"a\na\nb\n0\n",
        "b": b"b\nb\na\n0\n",
    }


async def test_it_runs_what_the_notebook_runs(cage: Cage) -> None:
    found = await cage.python("import sys, anyio; print(sys.version_info[:2])")

    assert found == f"{sys.version_info[:2]}\n"
