"""The profile for ``sandbox-exec`` of macOS: everything is denied but what is named."""

from __future__ import annotations

from pathlib import Path

from octo_lab.core.errors import ToolFailed
from octo_lab.tools.sandbox.policy import Job

_SYSTEM = (
    *("/usr", "/bin", "/sbin", "/System", "/Library/Developer", "/Library/Frameworks"),
    *("/opt/homebrew", "/private/etc/ssl", "/private/var/db/timezone", "/private/var/db/dyld"),
)
_FILES = (
    *("/private/etc/passwd", "/private/etc/group", "/private/etc/localtime", "/dev/null"),
    *("/dev/zero", "/dev/random", "/dev/urandom", "/dev/tty", "/private/etc/resolv.conf"),
)
_DEVICES = ("/dev/null", "/dev/zero", "/dev/tty", "/dev/dtracehelper")
_REFUSED = frozenset("()\\\"'")


def macos_argv(job: Job, *, scratch: Path) -> list[str]:
    """``scratch`` is a folder for temporary files that the caller removes afterwards."""
    return ["/usr/bin/sandbox-exec", "-p", macos_profile(job, scratch=scratch), *job.argv]


def macos_profile(job: Job, *, scratch: Path) -> str:
    """The last rule that fits wins, so what is hidden comes last; raises ToolFailed."""
    seen: list[str | Path] = [*_SYSTEM, *job.readable, job.workspace, scratch]
    read = [_subpath(path) for path in seen]
    write = [_subpath(job.workspace), _subpath(scratch), *map(_literal, _DEVICES)]
    anchors = [_literal(path) for path in job.anchors]
    fixed = [_subpath(path) for path in job.fixed]
    hidden = [*map(_subpath, job.hidden_folders), *map(_literal, job.hidden_files)]
    lines = [
        "(version 1)",
        "(deny default)",
        "(allow process-exec process-fork)",
        "(allow signal (target same-sandbox))",
        "(allow process-info* (target same-sandbox))",
        "(allow sysctl-read)",
        "(allow file-read-metadata)",
        f'(allow file-read* (literal "/") {" ".join([*map(_literal, _FILES), *read])})',
        f"(allow file-write* {' '.join(write)})",
        *([f"(deny file-write-unlink {' '.join(anchors)})"] if anchors else []),
        *([f"(deny file-write* {' '.join(fixed)})"] if fixed else []),
        *([f"(deny file-read* file-write* {' '.join(hidden)})"] if hidden else []),
        *(["(allow network*)", "(allow system-socket)"] if job.network else []),
    ]
    return "\n".join(lines) + "\n"


def _subpath(path: str | Path) -> str:
    return f'(subpath "{_plain(path)}")'


def _literal(path: str | Path) -> str:
    return f'(literal "{_plain(path)}")'


def _plain(path: str | Path) -> str:
    text = str(path)
    if not text.isprintable() or _REFUSED & set(text):
        raise ToolFailed(
            f"The path {text!r} cannot be written into a profile of the sandbox",
            hint="rename the folder: no quotes, brackets, backslashes or control characters",
        )
    return text
