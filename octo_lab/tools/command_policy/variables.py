"""Variables that decide what other programs run."""

from __future__ import annotations

import re

from octo_lab.tools.command_policy.case import HARMLESS, Case, Rule
from octo_lab.tools.command_policy.names import names
from octo_lab.tools.command_policy.syntax import Word
from octo_lab.tools.verdict import Verdict, strictest

_DECIDING = names(
    "PATH IFS ENV BASH_ENV SHELLOPTS BASHOPTS PROMPT_COMMAND PS4 PS0 CDPATH GLOBIGNORE "
    "LD_PRELOAD LD_LIBRARY_PATH LD_AUDIT DYLD_INSERT_LIBRARIES DYLD_LIBRARY_PATH "
    "EDITOR VISUAL PAGER MANPAGER LESSOPEN LESSCLOSE BROWSER SHELL "
    "GIT_PAGER GIT_EDITOR GIT_SEQUENCE_EDITOR GIT_SSH GIT_SSH_COMMAND GIT_ASKPASS SSH_ASKPASS "
    "GIT_EXTERNAL_DIFF GIT_PROXY_COMMAND GIT_CONFIG GIT_CONFIG_GLOBAL GIT_CONFIG_SYSTEM "
    "GIT_CONFIG_COUNT GIT_CONFIG_PARAMETERS GIT_EXEC_PATH GIT_TEMPLATE_DIR GIT_DIR GIT_WORK_TREE "
    "PYTHONSTARTUP PYTHONPATH PYTHONHOME PYTHONBREAKPOINT PERL5OPT PERL5LIB RUBYOPT RUBYLIB "
    "NODE_OPTIONS NODE_PATH JAVA_TOOL_OPTIONS _JAVA_OPTIONS RUSTC_WRAPPER MAKEFLAGS"
)
_RUNS = ("$(", "`")
_OPTION = re.compile(r"(?:^|\s)-{1,2}[A-Za-z]")


def assigned(where: str, name: str, value: Word) -> Verdict:
    """What ``name=value`` means for what runs after it."""
    if name in _DECIDING or name.startswith(("BASH_FUNC_", "GIT_CONFIG_KEY", "GIT_CONFIG_VALUE")):
        return Verdict("ask", f"{where} sets {name}, which decides what else runs")
    if _OPTION.search(value.text):
        return Verdict("ask", f"{where} keeps options in the variable {name!r}")
    if any(mark in value.text for mark in _RUNS):
        return Verdict("ask", f"{where} keeps a command in the variable {name!r}")
    return HARMLESS


def _declared(case: Case) -> Verdict:
    pairs = [word.text.partition("=") for word in case.args if "=" in word.text]
    start = HARMLESS
    if case.name != "export" and any(
        word.text.startswith("-") and "n" in word.text for word in case.args
    ):
        start = case.ask("lets one name stand for another")
    return strictest(
        (assigned(case.shown(), name.rstrip("+"), Word(value)) for name, _, value in pairs), start
    )


RULES: dict[str, Rule] = dict.fromkeys(
    ("export", "declare", "typeset", "readonly", "local"), _declared
)
