"""The rule for git: options that run programs, commands that lose work or reach out."""

from __future__ import annotations

from octo_lab.tools.command_policy.case import HARMLESS, Case, Rule
from octo_lab.tools.command_policy.names import names
from octo_lab.tools.command_policy.options import Options, read_options
from octo_lab.tools.command_policy.syntax import Word
from octo_lab.tools.verdict import Verdict

_PLAIN_KEYS = ("user.", "color.", "advice.", "init.", "column.", "i18n.", "log.", "status.")
_PLAIN_KEY = frozenset(
    {"core.quotepath", "core.autocrlf", "commit.gpgsign", "tag.gpgsign", "diff.renames", "gc.auto"}
)
_REMOTE = names(
    "push pull fetch clone ls-remote send-email submodule svn p4 request-pull send-pack fetch-pack"
)
_RUNS = names(
    "filter-branch difftool mergetool credential daemon instaweb upload-pack receive-pack "
    "upload-archive http-backend shell gui citool maintenance hook web--browse"
)
_FREE = names("add commit status blame log show diff rev-parse describe grep")
_RUNNING = ("upload-pack", "receive-pack", "exec", "open-files-in-pager", "extcmd", "config",
            "config-env", "template", "exec-path", "textconv", "ext-diff")  # fmt: skip
_LOSING: dict[str, tuple[tuple[str, ...], str]] = {
    "reset": (("hard", "merge", "keep"), "throws changes away"),
    "clean": (("f", "force", "x", "X"), "removes files that git does not know"),
    "checkout": (("f", "force", "B"), "throws changes away"),
    "switch": (("f", "force", "discard-changes", "C"), "throws changes away"),
    "branch": (("D", "M", "f", "force", "d", "delete"), "removes or moves a branch"),
    "tag": (("d", "delete", "f", "force"), "removes or moves a tag"),
    "rm": (("r", "f", "force"), "removes files"),
    "worktree": (("f", "force"), "removes a work tree"),
    "gc": (("prune",), "removes what no branch holds"),
    "read-tree": (("reset", "u"), "throws changes away"),
    "checkout-index": (("f", "force"), "throws changes away"),
    "rebase": (("x", "exec"), "runs a program at each step"),
}
_LOSES = {
    ("stash", "drop"), ("stash", "clear"), ("reflog", "expire"), ("reflog", "delete"),
    ("worktree", "remove"), ("remote", "remove"), ("bisect", "run"), ("update-ref", "-d"),
    ("remote", "add"), ("remote", "set-url"), ("submodule", "foreach"), ("remote", "update"),
    ("notes", "remove"), ("lfs", "prune"), ("remote", "rm"),
}  # fmt: skip


_STEERING = names("init clone worktree submodule config remote")


def steers(case: Case) -> bool:
    """Whether it makes a repository, or changes what one is told."""
    return case.name == "git" and any(word.text in _STEERING for word in case.args)


def _git(case: Case) -> Verdict:
    args = list(case.args)
    verdict = HARMLESS
    while args and args[0].text.startswith("-"):
        word = args.pop(0)
        verdict = verdict.or_worse(_ahead(case, word, args))
    if not args:
        return verdict
    if not case.place.walls:
        why = "runs what the repository's own settings name, without a sandbox"
        verdict = verdict.or_worse(case.ask(why))
    if args[0].literal is None:
        return case.ask("names a git command that is known only when it runs")
    return verdict.or_worse(_command(case, args[0].text, args[1:]))


def _ahead(case: Case, word: Word, args: list[Word]) -> Verdict:
    """An option before the command."""
    text = word.text
    if text == "-c" or text.startswith("-c"):
        setting = text[2:] or (args.pop(0).text if args else "")
        return HARMLESS if _is_plain(setting) else case.ask(_runs(setting))
    if text == "-C" and args:
        where = case.spot(args.pop(0))
        fine = where in {"inside", "workspace", "temporary"}
        return HARMLESS if fine else case.ask("works outside the workspace")
    if text in {"--no-pager", "-P", "--version", "-v", "--help", "-h", "--no-optional-locks", "-p",
                "--paginate", "--bare", "--literal-pathspecs"}:  # fmt: skip
        return HARMLESS
    if text in {"--git-dir", "--work-tree", "--namespace", "--exec-path", "--config-env"} and args:
        args.pop(0)
    return case.ask(f"gives git the option {text!r}")


def _is_plain(setting: str) -> bool:
    key = setting.partition("=")[0].lower()
    return key in _PLAIN_KEY or key.startswith(_PLAIN_KEYS)


def _runs(setting: str) -> str:
    return f"sets {setting.partition('=')[0]!r} for git, which may run another program"


def _command(case: Case, name: str, args: list[Word]) -> Verdict:
    if name not in _FREE and any("\0" in word.text for word in args):
        return case.ask("has words that are known only when it runs")
    options = read_options(args, valued=("m", "F") if name in {"commit", "tag", "merge"} else ())
    verdict = _running(case, name, options)
    if name in _RUNS:
        return case.ask("may run another program")
    if name == "config":
        return verdict.or_worse(_configured(case, options))
    if name in _LOSING and options.has(*_LOSING[name][0]):
        return case.ask(_LOSING[name][1])
    first = args[0].text if args else ""
    if (name, first) in _LOSES:
        return case.ask("loses or runs what cannot be seen here")
    if name in {"checkout", "restore"} and _overwrites(name, args, options):
        return case.ask("throws changes away")
    if name in _REMOTE:
        return case.ask(_reach(name, options))
    if name == "remote" and first == "show":
        return case.ask("reaches another machine")
    return verdict


def _running(case: Case, name: str, options: Options) -> Verdict:
    for long in options.long:
        if len(long) > 1 and any(full.startswith(long) for full in _RUNNING):
            return case.ask(f"gives git the option {'--' + long!r}, which may run another program")
    if name == "grep" and options.has("O"):
        return case.ask("may run another program")
    if any(word.text.startswith(("ext::", "fd::")) for word in options.operands):
        return case.ask("runs a program in place of a server")
    if options.has("output"):
        return case.ask("writes a file")
    return HARMLESS


def _configured(case: Case, options: Options) -> Verdict:
    looks = ("get", "get-all", "list", "l", "get-regexp", "show-origin")
    operands = [word.text for word in options.operands]
    if options.has(*looks) or len(operands) <= 1 or operands[0] in {"get", "list"}:
        return HARMLESS
    key = operands[1] if operands[0] == "set" else operands[0]
    return HARMLESS if _is_plain(key) else case.ask(_runs(key))


def _overwrites(name: str, args: list[Word], options: Options) -> bool:
    if name == "restore":
        return not options.has("S", "staged") or options.has("W", "worktree")
    texts = [word.text for word in args]
    makes = options.has("b", "t", "track", "orphan")
    return "--" in texts or "." in texts or (len(options.operands) > 1 and not makes)


def _reach(name: str, options: Options) -> str:
    forced = options.has("f", "force", "force-with-lease", "mirror", "delete", "d", "prune")
    forced = forced or any(word.text.startswith(("+", ":")) for word in options.operands)
    if name == "push" and forced:
        return "overwrites or removes what others may have"
    return "reaches another machine"


RULES: dict[str, Rule] = {"git": _git}
