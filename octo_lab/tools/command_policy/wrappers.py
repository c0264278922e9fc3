"""Rules for programs that run another program: what they run is judged in their place."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from octo_lab.tools.command_policy.case import HARMLESS, Case, Rule, source
from octo_lab.tools.command_policy.files import write
from octo_lab.tools.command_policy.options import Options, read_options
from octo_lab.tools.command_policy.syntax import UNKNOWN, Word
from octo_lab.tools.command_policy.variables import assigned
from octo_lab.tools.verdict import Verdict, strictest

_ANYTHING = 12


@dataclass(frozen=True, slots=True, kw_only=True)
class Wrap:
    """``valued`` options take a value, ``plain`` long ones take none, ``skip`` operands come
    before the command. ``why``: it is asked about, whatever it runs.
    """

    valued: tuple[str, ...] = ()
    plain: tuple[str, ...] = ()
    skip: int = 0
    why: str = ""


_TOLD = frozenset({"time", "strace", "ltrace"})
_SUDO = (*"ugpCrtThDRUa", "user", "group", "prompt", "chdir", "host", "role", "type")
_WRAPS: dict[str, Wrap] = {
    **dict.fromkeys(("command", "builtin", "nohup", "setsid", "fakeroot", "unbuffer"), Wrap()),
    "exec": Wrap(valued=("a",)),
    "nice": Wrap(valued=("n", "adjustment")),
    "ionice": Wrap(valued=("c", "n", "p", "class", "classdata"), plain=("ignore",)),
    "chrt": Wrap(skip=1),
    "taskset": Wrap(skip=1),
    "timeout": Wrap(
        valued=("k", "s", "kill-after", "signal"),
        plain=("foreground", "preserve-status", "verbose"),
        skip=1,
    ),
    "gtimeout": Wrap(valued=("k", "s"), skip=1),
    "stdbuf": Wrap(valued=("i", "o", "e", "input", "output", "error")),
    "time": Wrap(valued=("f", "o", "format", "output"), plain=("portability", "verbose", "append")),
    "flock": Wrap(valued=("w", "E", "timeout"), plain=("nonblock", "exclusive", "shared"), skip=1),
    "strace": Wrap(valued=tuple("eopsPuSIEaX")),
    "ltrace": Wrap(valued=tuple("eopsunaAl")),
    "busybox": Wrap(),
    "toybox": Wrap(),
    "sudo": Wrap(
        valued=_SUDO,
        plain=("preserve-env", "non-interactive", "set-home", "login", "shell", "stdin"),
        why="runs with the rights of another user",
    ),
    "doas": Wrap(valued=("u", "C"), why="runs with the rights of another user"),
    "pkexec": Wrap(valued=("user",), why="runs with the rights of another user"),
    "run0": Wrap(why="runs with the rights of another user"),
    "chroot": Wrap(skip=1, why="runs in another root folder"),
    "unshare": Wrap(why="runs in other name spaces"),
    "nsenter": Wrap(why="runs in other name spaces"),
    "systemd-run": Wrap(why="runs outside of this session"),
    "start-stop-daemon": Wrap(why="runs outside of this session"),
    "parallel": Wrap(valued=tuple("jnNLIaS"), why="runs commands built from its input"),
}


def _wrapped(case: Case) -> Verdict:
    wrap = _WRAPS[case.name]
    options = read_options(case.args, valued=wrap.valued, stop=True)
    start = case.ask(wrap.why) if wrap.why else HARMLESS
    if case.name in _TOLD:
        start = strictest((_noted(case, options, name) for name in ("o", "output")), start)
    if _odd(options, wrap):
        return strictest(map(case.again, _suffixes(case.args)), start)
    words = options.operands[wrap.skip :]
    if case.name == "flock" and words and words[0].text in {"-c", "--command"}:
        return start.or_worse(_text(case, words[1:]))
    while case.name in {"sudo", "doas"} and words and "=" in words[0].text:
        start, words = start.or_worse(_setting(case, words[0])), words[1:]
    return start.or_worse(case.again(words)) if words else start


def _noted(case: Case, options: Options, name: str) -> Verdict:
    """The file that a program of ``_TOLD`` writes."""
    word = options.values.get(name)
    if word is None:
        return HARMLESS
    return case.ask("runs a program") if word.text[:1] in ("|", "!") else write(case, word)


def _odd(options: Options, wrap: Wrap) -> bool:
    """Whether a long option is given of which it is not known whether it takes a value."""
    known = (*wrap.valued, *wrap.plain, "help", "version")
    return any(name not in known and name not in options.values for name in options.long)


def _suffixes(words: Sequence[Word]) -> list[Sequence[Word]]:
    return [words[index:] for index in range(min(len(words), _ANYTHING))]


def _text(case: Case, words: Sequence[Word]) -> Verdict:
    """Words that are joined and read by a shell."""
    if not words:
        return HARMLESS
    verdict = case.run(" ".join(map(source, words)))
    if any(UNKNOWN in word.text or word.globs for word in words):
        verdict = case.ask("runs a text that is known only when it runs").or_worse(verdict)
    return verdict


def _setting(case: Case, word: Word) -> Verdict:
    name, _, value = word.text.partition("=")
    return assigned(case.shown(), name, Word(value, bare=False), walls=case.place.walls)


def _environment(case: Case) -> Verdict:
    """``env``: variables, then a command, or with ``-S`` a text that holds them."""
    valued = ("u", "C", "S", "a", "unset", "chdir", "split-string", "argv0")
    options = read_options(case.args, valued=valued, stop=True)
    verdict = HARMLESS
    for name, text in options.values.items():
        if name == "S" or (len(name) > 1 and "split-string".startswith(name)):
            whole = [text, *options.operands]
            return case.run("env " + " ".join(map(source, whole)))
    words = options.operands
    if words and words[0].text == "-":  # as -i
        return case.again([Word("env"), *words[1:]])
    while words and "=" in words[0].text.partition(UNKNOWN)[0]:
        verdict, words = verdict.or_worse(_setting(case, words[0])), words[1:]
    plain = ("ignore-environment", "null", "debug")
    if _odd(options, Wrap(valued=valued, plain=plain)):
        return strictest(map(case.again, _suffixes(case.args)), verdict)
    return verdict.or_worse(case.again(words)) if words else verdict


def _arguments(case: Case) -> Verdict:
    """``xargs``: a command whose last words come from its input."""
    valued = (*"ILnPsdEa", "max-args", "max-procs", "max-lines", "max-chars", "delimiter")
    options = read_options(case.args, valued=(*valued, "arg-file", "replace"), stop=True)
    plain = ("null", "no-run-if-empty", "verbose", "interactive", "exit", "open-tty")
    if _odd(options, Wrap(valued=valued, plain=(*plain, "replace"))):
        return strictest(map(case.again, _suffixes(case.args)), case.ask("is not understood"))
    mark = options.values.get("I") or options.values.get("replace")
    words = options.operands
    if not words:
        return HARMLESS
    if mark is None and not options.has("i", "replace"):
        return case.again([*words, Word(UNKNOWN, bare=False)])
    sign = mark.text if mark else "{}"
    return case.again([Word(word.text.replace(sign, UNKNOWN), bare=False) for word in words])


def _watched(case: Case) -> Verdict:
    options = read_options(case.args, valued=("n", "interval", "d"), stop=True)
    return _text(case, options.operands)


def _evaluated(case: Case) -> Verdict:
    return _text(case, case.args)


def _trapped(case: Case) -> Verdict:
    return _text(case, read_options(case.args, stop=True).operands[:1])


def _named(case: Case) -> Verdict:
    """``alias``: each value will be read as a command."""
    texts = [word.text.partition("=")[2] for word in case.args if "=" in word.text]
    return strictest((_text(case, [Word(text, bare=False)]) for text in texts), HARMLESS)


def _switched(case: Case) -> Verdict:
    options = read_options(case.args, valued=("c", "command", "s", "shell", "g", "u", "user"))
    start = case.ask("runs with the rights of another user")
    for name in ("c", "command"):
        if text := options.values.get(name):
            return start.or_worse(_text(case, [text]))
    return start


RULES: dict[str, Rule] = {
    **dict.fromkeys(_WRAPS, _wrapped),
    "env": _environment,
    "xargs": _arguments,
    "watch": _watched,
    "eval": _evaluated,
    "trap": _trapped,
    "alias": _named,
    **dict.fromkeys(("su", "runuser", "script"), _switched),
}
