"""The whole profile for macOS, and the paths that it refuses."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from octo_lab.core.errors import ToolFailed
from octo_lab.tools.sandbox.macos import macos_argv, macos_profile
from octo_lab.tools.sandbox.policy import Job

JOB = Job(
    argv=("ls",),
    workspace=Path("/Users/u/w"),
    readable=(Path("/Users/u/py"),),
    hidden_folders=(Path("/Users/u/w/.octo"),),
    hidden_files=(Path("/Users/u/w/.netrc"),),
)
SCRATCH = Path("/private/tmp/octo-1")
PROFILE = """\
(version 1)
(deny default)
(allow process-exec process-fork)
(allow signal (target same-sandbox))
(allow process-info* (target same-sandbox))
(allow sysctl-read)
(allow file-read-metadata)
(allow file-read* (literal "/") (literal "/private/etc/passwd") (literal "/private/etc/group")\
 (literal "/private/etc/localtime") (literal "/dev/null") (literal "/dev/zero")\
 (literal "/dev/random") (literal "/dev/urandom") (literal "/dev/tty")\
 (literal "/private/etc/resolv.conf") (subpath "/usr") (subpath "/bin") (subpath "/sbin")\
 (subpath "/System") (subpath "/Library/Developer") (subpath "/Library/Frameworks")\
 (subpath "/opt/homebrew") (subpath "/private/etc/ssl") (subpath "/private/var/db/timezone")\
 (subpath "/private/var/db/dyld") (subpath "/Users/u/py") (subpath "/Users/u/w")\
 (subpath "/private/tmp/octo-1"))
(allow file-write* (subpath "/Users/u/w") (subpath "/private/tmp/octo-1") (literal "/dev/null")\
 (literal "/dev/zero") (literal "/dev/tty") (literal "/dev/dtracehelper"))
(deny file-read* file-write* (subpath "/Users/u/w/.octo") (literal "/Users/u/w/.netrc"))
"""


def test_everything_is_denied_but_what_is_named() -> None:
    assert macos_profile(JOB, scratch=SCRATCH) == PROFILE
    assert macos_argv(JOB, scratch=SCRATCH) == ["/usr/bin/sandbox-exec", "-p", PROFILE, "ls"]


def test_what_leads_to_something_hidden_cannot_be_renamed() -> None:
    job = replace(JOB, hidden_folders=(Path("/Users/u/w/.config/gcloud"),))

    profile = macos_profile(job, scratch=SCRATCH)

    assert '(deny file-write-unlink (literal "/Users/u/w/.config"))\n(deny file-read*' in profile


def test_what_is_fixed_may_only_be_read() -> None:
    profile = macos_profile(replace(JOB, fixed=(Path("/Users/u/w/.venv"),)), scratch=SCRATCH)

    assert '\n(deny file-write* (subpath "/Users/u/w/.venv"))\n(deny file-read*' in profile


def test_a_set_network_is_allowed() -> None:
    profile = macos_profile(replace(JOB, network=True), scratch=SCRATCH)

    assert profile == PROFILE + "(allow network*)\n(allow system-socket)\n"


@pytest.mark.parametrize("char", [*"()\\\"'\n\r\0\t\x1b\x7f\u2028"])
@pytest.mark.parametrize(
    "part", ["workspace", "readable", "fixed", "hidden_folders", "hidden_files"]
)
def test_a_path_that_could_change_the_profile_is_refused(char: str, part: str) -> None:
    path = Path(f"/Users/u/a{char}b")
    wrong: dict[str, Any] = {part: path if part == "workspace" else (path,)}
    job = replace(JOB, **wrong)

    with pytest.raises(ToolFailed, match="cannot be written into a profile"):
        macos_profile(job, scratch=SCRATCH)


@given(st.text(min_size=1))
def test_no_path_writes_a_rule(name: str) -> None:
    try:
        profile = macos_profile(replace(JOB, workspace=Path(f"/x/{name}")), scratch=SCRATCH)
    except ToolFailed:
        return
    assert profile.count("\n") == PROFILE.count("\n")
    assert profile.count("(") == PROFILE.count("(")
    assert profile.count('"') == PROFILE.count('"')


def test_the_whole_disk_as_a_workspace_keeps_what_holds_the_hidden_folders() -> None:
    profile = macos_profile(replace(JOB, workspace=Path("/")), scratch=SCRATCH)

    kept = '(literal "/Users") (literal "/Users/u") (literal "/Users/u/w")'
    assert f"\n(deny file-write-unlink {kept})\n" in profile
