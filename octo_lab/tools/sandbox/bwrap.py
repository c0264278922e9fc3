"""The arguments of bubblewrap: a machine with nothing on it but the system and the workspace."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from octo_lab.tools.sandbox.policy import Job

SYSTEM = ("/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32")
# What programs look up: libraries, names, time, certificates, fonts. No keys, no passwords.
ETC = (
    *("ld.so.cache", "ld.so.conf", "ld.so.conf.d", "alternatives", "nsswitch.conf"),
    *("passwd", "group", "localtime", "timezone", "os-release", "debian_version"),
    *("ssl/certs", "ssl/openssl.cnf", "ca-certificates", "pki/tls/certs", "pki/ca-trust"),
    *("crypto-policies", "fonts", "mime.types", "magic", "terminfo", "inputrc", "gitconfig"),
    *("locale.alias", "java-17-openjdk", "java-21-openjdk", "protocols", "services"),
)
NETWORK_ETC = ("resolv.conf", "hosts", "host.conf", "gai.conf")
# The strictest first: a user namespace that cannot make others, one that can, none (root's own).
FENCES: tuple[tuple[str, ...], ...] = (
    ("--unshare-user", "--disable-userns"),
    ("--unshare-user",),
    (),
)
_SPACES = ("--unshare-pid", "--unshare-ipc", "--unshare-uts", "--unshare-cgroup-try")
HOME = "/tmp"
# Root without rights still owns these files, and bubblewrap covers them only for others.
_KERNEL_FOLDERS = ("sys", "fs", "irq", "bus", "acpi", "scsi", "asound", "driver", "tty")
_KERNEL_FILES = ("sysrq-trigger", "kcore", "kmsg", "keys", "timer_list", "sched_debug", "mtrr")


@dataclass(frozen=True, slots=True, kw_only=True)
class Lent:
    """Descriptors for bubblewrap: ``info`` is told the number of its first process, as JSON;
    ``filter`` gives the system calls that commands may use.
    """

    info: int | None = None
    filter: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Layout:
    """Which system folders are there: real ones, and links with where they lead; and what in
    ``/proc`` is the kernel's, not a process's. ``program`` is bubblewrap itself.
    """

    folders: tuple[str, ...] = ("/usr",)
    links: tuple[tuple[str, str], ...] = ()
    kernel: tuple[str, ...] = ("sys",)
    program: str = "/usr/bin/bwrap"


def find_layout(program: str, names: tuple[str, ...] = SYSTEM) -> Layout:
    """As this machine has it (merged ``/usr`` or not)."""
    links = tuple((name, str(Path(name).readlink())) for name in names if Path(name).is_symlink())
    linked = {name for name, _ in links}
    folders = tuple(name for name in names if name not in linked and Path(name).is_dir())
    sealed = (*_KERNEL_FOLDERS, *_KERNEL_FILES)
    kernel = tuple(name for name in sealed if Path("/proc", name).exists())
    return Layout(folders=folders, links=links, kernel=kernel, program=program)


def bwrap_argv(
    job: Job, *, layout: Layout, fence: tuple[str, ...] = FENCES[0], lent: Lent = Lent()
) -> list[str]:
    """The whole command line. Everything in the sandbox dies with its first process, and with us.

    Later arguments cover earlier ones, so what is hidden comes last.
    """
    return [
        layout.program,
        *(() if lent.info is None else ("--info-fd", str(lent.info))),
        *(() if lent.filter is None else ("--seccomp", str(lent.filter))),
        *fence,
        *_SPACES,
        *(() if job.network else ("--unshare-net",)),
        *("--die-with-parent", "--new-session", "--cap-drop", "ALL", "--hostname", "octo"),
        *_system(job, layout),
        *_work(job),
        *("--chdir", str(job.workspace / job.folder), "--", *job.argv),
    ]


def _system(job: Job, layout: Layout) -> list[str]:
    etc = (*ETC, *(NETWORK_ETC if job.network else ()))
    size = str(job.bounds.scratch)
    return [
        *(part for name in layout.folders for part in ("--ro-bind", name, name)),
        *(part for name, target in layout.links for part in ("--symlink", target, name)),
        *(part for name in etc for part in ("--ro-bind-try", f"/etc/{name}", f"/etc/{name}")),
        *("--dev", "/dev", "--proc", "/proc"),
        *(part for name in layout.kernel for part in _sealed(f"/proc/{name}")),
        *("--size", size, "--tmpfs", "/tmp", "--size", size, "--tmpfs", "/var/tmp"),
    ]


def _work(job: Job) -> list[str]:
    return [
        *(part for path in job.readable for part in ("--ro-bind", str(path), str(path))),
        # What is mounted cannot be renamed: so neither can what leads to what is hidden.
        *(part for path in (job.workspace, *job.anchors) for part in ("--bind", *[str(path)] * 2)),
        *(part for path in job.fixed for part in ("--ro-bind", str(path), str(path))),
        *(part for path in job.hidden_folders for part in _empty(str(path))),
        *(part for path in job.hidden_files for part in ("--ro-bind", "/dev/null", str(path))),
        *("--remount-ro", "/"),
    ]


def _sealed(path: str) -> tuple[str, ...]:
    return (
        "--ro-bind",
        path if path.removeprefix("/proc/") in _KERNEL_FOLDERS else "/dev/null",
        path,
    )


def _empty(folder: str) -> tuple[str, ...]:
    return ("--tmpfs", folder, "--remount-ro", folder)
