"""Command lines of git that run nothing but git.

A repository is a stranger's word: its configuration may name programs to page, to compare, to
filter, to monitor, to sign, to fetch. Each is switched off by what is said here; hooks run only
for what a person has allowed.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Protocol

from octo_lab.core.errors import ToolFailed

FILTERS = ("clean", "smudge", "process")
_ALWAYS = (
    "core.pager=cat",
    "core.fsmonitor=false",
    "core.askPass=true",
    "core.editor=true",
    "core.quotePath=false",
    "color.ui=false",
    "log.showSignature=false",
    "commit.gpgSign=false",
    "protocol.allow=never",
    "submodule.recurse=false",
    "status.submoduleSummary=false",
    "safe.directory=*",
)
_PLAIN = ("--no-ext-diff", "--no-textconv", "--submodule=short", "--ignore-submodules=dirty")


class Words(Protocol):
    """What a call says; no word begins with a dash, paths are relative to the workspace."""

    paths: Sequence[str]
    ref: str
    name: str
    staged: bool
    limit: int
    message: str


def git_argv(
    action: str, words: Words, *, looks: bool, filters: Sequence[str] = ()
) -> tuple[str, ...]:
    """The command line; raises ToolFailed when a word is missing. ``filters`` are not run."""
    settings = list(_ALWAYS)
    if looks:
        settings.append("core.hooksPath=/dev/null")
        for name in filters:
            settings += [f"filter.{name}.{kind}=" for kind in FILTERS]
            settings.append(f"filter.{name}.required=false")
    options = [part for setting in settings for part in ("-c", setting)]
    start = ("git", "--no-pager", "--literal-pathspecs", *options)
    quiet = ("--no-optional-locks",) if looks else ()
    return (*start, *quiet, *_ACTIONS[action](words))


def must_be_repository(action: str, words: Words) -> bool:
    """Outside of any repository git would compare two paths wherever they lead."""
    return action == "diff" and len(words.paths) == 2


def find_repository() -> tuple[str, ...]:
    """The command that fails outside of a repository."""
    return ("git", "-c", "safe.directory=*", "rev-parse")


def list_filters() -> tuple[str, ...]:
    """The command that lists what the repository's configuration says of filters and folders."""
    find = ("config", "--includes", "--name-only", "-z", "--get-regexp")
    return ("git", "-c", "safe.directory=*", *find, r"^(filter\.|core\.worktree$)")


def read_filters(listed: bytes) -> tuple[str, ...]:
    """The names of the filters; raises ToolFailed for what cannot be switched off."""
    found = listed.decode(errors="replace").split("\0")
    if "core.worktree" in found:
        raise ToolFailed("the repository's configuration moves its files with core.worktree")
    keys = [key for key in found if key.count(".") > 1]
    names = {key.split(".", 1)[1].rsplit(".", 1)[0] for key in keys}
    odd = [name for name in names if "=" in name or not name.isprintable()]
    if odd:
        raise ToolFailed(f"the repository's configuration has the odd filter {odd[0]!r}")
    return tuple(sorted(names))


def _status(words: Words) -> list[str]:
    options = ["--short", "--branch", "--untracked-files=all", "--ignore-submodules=dirty"]
    return ["status", *options, "--", *(words.paths or ["."])]


def _diff(words: Words) -> list[str]:
    staged = ["--cached"] if words.staged else []
    return ["diff", *_PLAIN, *staged, *_ref(words), "--", *(words.paths or ["."])]


def _log(words: Words) -> list[str]:
    shape = ["--date=iso-strict", "--format=%h %ad %an%d%n    %s"]
    return ["log", *_PLAIN, f"--max-count={words.limit}", *shape, *_ref(words), "--", *words.paths]


def _show(words: Words) -> list[str]:
    return ["show", *_PLAIN, "--stat", "--patch", words.ref or "HEAD", "--", *words.paths]


def _blame(words: Words) -> list[str]:
    if len(words.paths) != 1:
        raise ToolFailed("blame takes one file", hint="name it in paths")
    return ["blame", "--no-textconv", "--date=short", *_ref(words), "--", *words.paths]


def _branches(words: Words) -> list[str]:
    return ["branch", "--all", "--verbose", "--no-color"]


def _add(words: Words) -> list[str]:
    return ["add", "--", *_needed(words)]


def _unstage(words: Words) -> list[str]:
    return ["restore", "--staged", "--", *_needed(words)]


def _restore(words: Words) -> list[str]:
    source = [f"--source={words.ref}"] if words.ref else []
    return ["restore", *source, "--", *_needed(words)]


def _commit(words: Words) -> list[str]:
    if not words.message:
        raise ToolFailed("a commit needs a message", hint="give one in message")
    paths = ["--", *words.paths] if words.paths else []
    return ["commit", "--no-gpg-sign", "--file=-", *paths]


def _branch(words: Words) -> list[str]:
    return ["branch", _named(words), *_ref(words)]


def _switch(words: Words) -> list[str]:
    return ["switch", "--no-guess", _named(words)]


def _ref(words: Words) -> list[str]:
    return [words.ref] if words.ref else []


def _needed(words: Words) -> Sequence[str]:
    if not words.paths:
        raise ToolFailed("which files?", hint="name them in paths; `.` is all of the workspace")
    return words.paths


def _named(words: Words) -> str:
    if not words.name:
        raise ToolFailed("which branch?", hint="give its name in name")
    return words.name


_ACTIONS: Mapping[str, Callable[[Words], list[str]]] = {
    "status": _status,
    "diff": _diff,
    "log": _log,
    "show": _show,
    "blame": _blame,
    "branches": _branches,
    "add": _add,
    "unstage": _unstage,
    "restore": _restore,
    "commit": _commit,
    "branch": _branch,
    "switch": _switch,
}
