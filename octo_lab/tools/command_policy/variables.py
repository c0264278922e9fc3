"""Variables that decide what other programs run."""

from __future__ import annotations

import re
from collections.abc import Sequence

from octo_lab.tools.command_policy.case import HARMLESS, Case, Rule
from octo_lab.tools.command_policy.names import names
from octo_lab.tools.command_policy.syntax import UNKNOWN, Word
from octo_lab.tools.verdict import Verdict, strictest

_DECIDING = names(
    "PATH IFS ENV BASH_ENV SHELLOPTS BASHOPTS PROMPT_COMMAND PS4 PS0 CDPATH GLOBIGNORE "
    "LD_PRELOAD LD_LIBRARY_PATH LD_AUDIT DYLD_INSERT_LIBRARIES DYLD_LIBRARY_PATH "
    "EDITOR VISUAL PAGER MANPAGER LESSOPEN LESSCLOSE BROWSER SHELL "
    "GIT_PAGER GIT_EDITOR GIT_SEQUENCE_EDITOR GIT_SSH GIT_SSH_COMMAND GIT_ASKPASS SSH_ASKPASS "
    "GIT_EXTERNAL_DIFF GIT_PROXY_COMMAND GIT_CONFIG GIT_CONFIG_GLOBAL GIT_CONFIG_SYSTEM "
    "GIT_CONFIG_COUNT GIT_CONFIG_PARAMETERS GIT_EXEC_PATH GIT_TEMPLATE_DIR GIT_DIR GIT_WORK_TREE "
    "PYTHONSTARTUP PYTHONPATH PYTHONHOME PYTHONBREAKPOINT PERL5OPT PERL5LIB RUBYOPT RUBYLIB "
    "NODE_OPTIONS NODE_PATH JAVA_TOOL_OPTIONS _JAVA_OPTIONS RUSTC RUSTC_WRAPPER MAKEFLAGS "
    "MAKEFILES GOFLAGS RIPGREP_CONFIG_PATH PYTEST_PLUGINS PYTHONINSPECT GCONV_PATH "
    "RUSTC_WORKSPACE_WRAPPER PIP_INDEX_URL PIP_EXTRA_INDEX_URL TAR_OPTIONS"
)
_DECIDING_TOO = ("BASH_FUNC_", "GIT_CONFIG_KEY", "GIT_CONFIG_VALUE", "CARGO_", "NPM_CONFIG_")
_HARMLESS = names(
    "LANG LANGUAGE TZ TERM COLUMNS LINES NO_COLOR FORCE_COLOR CI DEBUG VERBOSE PYTHONUNBUFFERED "
    "PYTHONDONTWRITEBYTECODE PYTHONHASHSEED"
)
_SEARCHED = names("PYTHONPATH NODE_PATH PERL5LIB RUBYLIB")
_BELOW = re.compile(r"(?:\.|(?:\./)?\w[\w.-]*(?:/\w[\w.-]*)*)/?")
_SHOWERS = names("PAGER GIT_PAGER MANPAGER EDITOR VISUAL GIT_EDITOR GIT_SEQUENCE_EDITOR")
_NOTHING = names("cat true :")
_RUNS = ("$(", "`")
_NAME = re.compile(r"[A-Za-z_]\w*")
UNSEEN = Word(UNKNOWN, bare=False)
_OPTION = re.compile(r"(?:^|\s)-{1,2}[A-Za-z]")


def assigned(where: str, name: str, value: Word, *, walls: bool) -> Verdict:
    """What ``name=value`` means for what runs after it."""
    if name in _SHOWERS and value.text in _NOTHING:
        return HARMLESS
    if walls and name in _SEARCHED and all(map(_BELOW.fullmatch, value.text.split(":"))):
        return HARMLESS  # folders of the workspace, whose programs run unasked
    if name in _DECIDING or name.upper().startswith(_DECIDING_TOO):
        return Verdict("ask", f"{where} sets {name}, which decides what else runs")
    if not walls and name.isupper() and len(name) > 1 and not _is_plain(name):
        return Verdict("ask", f"{where} sets {name}, which programs may read")
    if _OPTION.search(value.text):
        return Verdict("ask", f"{where} keeps options in the variable {name!r}")
    if any(mark in value.text for mark in _RUNS):
        return Verdict("ask", f"{where} keeps a command in the variable {name!r}")
    return HARMLESS


def _is_plain(name: str) -> bool:
    return name in _HARMLESS or name.startswith(("LC_", "GIT_AUTHOR_", "GIT_COMMITTER_"))


def counts(text: str) -> bool:
    """Whether a name or a number runs a command where the shell works it out: ``x[$(…)]``."""
    return "[" in text and any(mark in text for mark in _RUNS)


def _counted(case: Case) -> Verdict:
    """Builtins that work their words out, or set the variables that these name."""
    if any(counts(word.text) for word in case.args):
        return case.ask("works out a text that runs a command")
    if case.name in {"mapfile", "readarray", "compgen"} and any(
        word.text.startswith(("-C", "-F")) for word in case.args
    ):
        return case.ask("is told what to run")
    sets = case.name in _SETTING or (case.name == "printf" and _is_v(case.args))
    return strictest((_set(case, word) for word in case.args if sets), HARMLESS)


def _is_v(words: Sequence[Word]) -> bool:
    return bool(words) and words[0].text.startswith("-v")


def _set(case: Case, word: Word) -> Verdict:
    name = word.text.removeprefix("-v").removeprefix("-a")
    if _NAME.fullmatch(name):
        return assigned(case.shown(), name, UNSEEN, walls=case.place.walls)
    return HARMLESS


def _declared(case: Case) -> Verdict:
    pairs = [word.text.partition("=") for word in case.args if "=" in word.text]
    start = HARMLESS
    if case.name != "export" and any(
        word.text.startswith("-") and "n" in word.text for word in case.args
    ):
        start = case.ask("lets one name stand for another")
    return strictest(
        (
            assigned(case.shown(), name.rstrip("+"), Word(value), walls=case.place.walls)
            for name, _, value in pairs
        ),
        start.or_worse(_counted(case)),
    )


_SETTING = names("read mapfile readarray getopts")
RULES: dict[str, Rule] = {
    **dict.fromkeys(("export", "declare", "typeset", "readonly", "local"), _declared),
    **dict.fromkeys(
        names("test [ let unset wait printf compgen read mapfile readarray getopts"), _counted
    ),
}
