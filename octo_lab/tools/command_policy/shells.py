"""Rules for shells and interpreters: what they are told to run."""

from __future__ import annotations

from collections.abc import Sequence

from octo_lab.tools.command_policy.case import HARMLESS, Case, Rule, shown, source
from octo_lab.tools.command_policy.names import names
from octo_lab.tools.command_policy.options import read_options
from octo_lab.tools.command_policy.place import Spot
from octo_lab.tools.command_policy.syntax import UNKNOWN, Simple, Word
from octo_lab.tools.verdict import Verdict

_STDIN = frozenset({"-", "/dev/stdin", "/dev/fd/0", "/proc/self/fd/0"})
INTERPRETERS = {
    "python": ("c",),
    "perl": ("e", "E"),
    "ruby": ("e",),
    "node": ("e", "p", "eval", "print"),
    "deno": ("eval",),
    "bun": ("e", "eval"),
    "php": ("r", "B", "E", "R", "run"),
    "lua": ("e",),
    "luajit": ("e",),
    "rscript": ("e",),
    "julia": ("e", "E", "eval", "print"),
    "osascript": ("e",),
    "tclsh": (),
    "expect": ("c",),
    "groovy": ("e",),
    "pwsh": ("c", "Command", "EncodedCommand"),
    "powershell": ("c", "Command", "EncodedCommand"),
    "gdb": ("ex", "eval-command"),
}
"""By which options each takes a program, or a part of one, on the line."""
_LOOKS = frozenset({"version", "help", "V", "h"})
_TELLS = names("node perl ruby php deno bun lua")  # with -v they tell their version
_OWN: frozenset[Spot] = frozenset({"inside", "temporary"})


def _shell(case: Case) -> Verdict:
    args = [word for word in case.args if word.text[:1] != "+"]
    valued = ("o", "O", "rcfile", "init-file")
    options = read_options(args, valued=valued, stop=True)
    if options.has("rcfile", "init-file"):
        return case.ask("is told what to run at its start")
    if "command" in options.values:
        return _text(case, options.values["command"])
    if options.has("c", "command"):
        return _text(case, options.operands[0]) if options.operands else HARMLESS
    if options.operands and not options.has("s") and options.operands[0].text not in _STDIN:
        return _script(case, options.operands[0])
    if options.has("version", "help") and not options.operands:
        return HARMLESS
    return _from_input(case)


def _text(case: Case, word: Word) -> Verdict:
    verdict = case.run(source(word))
    if UNKNOWN in word.text or word.globs:
        return case.ask("runs a text that is known only when it runs").or_worse(verdict)
    return verdict


def _script(case: Case, word: Word) -> Verdict:
    if not case.place.walls:
        return case.ask("runs without a sandbox")
    if case.spot(word) in _OWN:
        return HARMLESS
    return case.ask("runs a script that is not of the workspace")


def _from_input(case: Case) -> Verdict:
    """Commands come by a here-document, a file or a pipe."""
    for redirect in reversed(case.redirects):
        if redirect.body is not None:
            return _text(case, Word(redirect.body, bare=False))
        if redirect.operator == "<":
            return _script(case, redirect.target)
    if case.simple.feeder is None:
        return case.ask("takes its commands from elsewhere")
    text = _printed(case.simple.feeder)
    if text is None:
        return case.ask(f"runs what {shown(case.simple.feeder.words)} gives")
    return _text(case, text)


def _printed(feeder: Simple) -> Word | None:
    """What a command prints, where its words tell."""
    name = feeder.words[0].text if feeder.words else ""
    if name == "cat" and len(feeder.words) == 1 and feeder.redirects:
        body = feeder.redirects[-1].body
        return None if body is None else Word(body, bare=False)
    if name not in {"echo", "printf"} or feeder.fed:
        return None
    return Word(_echoed(feeder.words[1:]), bare=False)


def _echoed(words: Sequence[Word]) -> str:
    """The words with their escapes taken for what they may become."""
    texts = [UNKNOWN if word.globs else word.text for word in words]
    while texts and texts[0] in {"-e", "-n", "-E", "-en", "-ne", "--"}:
        del texts[0]
    text = " ".join(texts)
    return text + UNKNOWN if "\\" in text or "%" in text else text


def _interpreter(case: Case) -> Verdict:
    name = _known(case.name)
    options = read_options(case.args, stop=True)
    code = INTERPRETERS[name]
    if options.has(*code) or (
        code and any(x in code for x in (w.text.lstrip("-") for w in case.args))
    ):
        return case.as_script("runs a program that is written on the line")
    looks = options.has(*_LOOKS) or (name in _TELLS and options.short == {"v"})
    if looks and not options.operands:
        return HARMLESS
    if name == "python" and options.has("m"):
        return _module(case)
    if not options.operands or options.operands[0].text in _STDIN:
        return case.as_script("takes its program from elsewhere")
    return _script(case, options.operands[0])


def _module(case: Case) -> Verdict:
    texts = [word.text for word in case.args]
    at = next((index for index, text in enumerate(texts) if text.startswith("-m")), 0)
    module = texts[at][2:] or "".join(texts[at + 1 : at + 2])
    if module in {"pip", "ensurepip", "uv"}:
        rest = case.args[at + 2 :] if texts[at] == "-m" else case.args[at + 1 :]
        return case.again([Word(module), *rest])
    if module in {"http.server", "pdb", "code", "smtpd", "ftplib", "telnetlib", "webbrowser"}:
        return case.ask(f"runs the module {module!r}")
    return HARMLESS if module and UNKNOWN not in module else case.ask("runs an unknown module")


def _sourced(case: Case) -> Verdict:
    if not case.args:
        return HARMLESS
    if case.args[0].text in _STDIN:
        return _from_input(case)
    return _script(case, case.args[0])


def _family(name: str) -> str:
    """``python3.11`` is a ``python``."""
    return name.rstrip("0123456789.") if name not in INTERPRETERS else name


def interpreter(name: str) -> Rule | None:
    """The rule for an interpreter of any version, None where ``name`` is none."""
    return _interpreter if _known(name) in INTERPRETERS else None


def _known(name: str) -> str:
    """The interpreter that takes its options as ``name`` does."""
    family = _family(name)
    return {"pypy": "python", "nodejs": "node", "ipython": "python"}.get(family, family)


RULES: dict[str, Rule] = {
    **dict.fromkeys(names("sh bash dash zsh ksh mksh ash rbash fish csh tcsh yash hush"), _shell),
    **dict.fromkeys(("source", "."), _sourced),
}
