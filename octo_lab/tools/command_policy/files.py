"""Rules for programs that remove, write and change files."""

from __future__ import annotations

import re
from collections.abc import Iterable

from octo_lab.security.private_names import PrivateNames
from octo_lab.tools.command_policy.case import HARMLESS, Case, Rule
from octo_lab.tools.command_policy.options import read_options
from octo_lab.tools.command_policy.place import Spot, may_be_own
from octo_lab.tools.command_policy.syntax import HOME, UNKNOWN, Redirect, Word
from octo_lab.tools.verdict import Verdict, strictest

_WORDS: dict[Spot, str] = {
    "root": "the whole file system",
    "home": "the home folder",
    "above": "a folder that holds the workspace or the home folder",
    "system": "a part of the system",
    "device": "a device",
    "workspace": "the whole workspace",
    "guarded": "what steers git, octo_lab or programs that start later",
    "outside": "something outside the workspace",
    "unknown": "something that is known only when it runs",
}
_LOST: frozenset[Spot] = frozenset({"root", "home", "above", "system", "device"})
_FINE: frozenset[Spot] = frozenset({"inside", "temporary"})
_SEALED: frozenset[Spot] = frozenset({"root", "system", "device"})
_ELSEWHERE: frozenset[Spot] = frozenset({"home", "above", "root", "outside", "unknown"})
_DEEP = {
    **dict.fromkeys(
        ("grep", "egrep", "fgrep"),
        ("r", "R", "d", "recursive", "dereference-recursive", "directories"),
    ),
    "rg": ("u", ".", "hidden", "unrestricted"),
    "diff": ("r", "recursive"),
}
_MODE = re.compile(r"[0-7]{4,}|[ugoa]*\+[rwxXt]*s[rwxXst]*")


def write(case: Case, word: Word) -> Verdict:
    """A file is written, made or replaced there."""
    where = case.spot(word)
    if where in _FINE or where == "workspace":
        return HARMLESS
    if where == "device" and word.text.startswith(("/dev/tcp/", "/dev/udp/")):
        return case.ask("reaches another machine")
    if where in _SEALED:
        return case.deny(f"writes to {_WORDS[where]}")
    return case.ask(f"writes to {_WORDS[where]}")


def redirected(case: Case, redirect: Redirect) -> Verdict:
    target, operator = redirect.target, redirect.operator
    if operator in {"<<", "<<<"} or (
        operator in {"<&", ">&"} and (target.text == "-" or target.text.rstrip("-").isdigit())
    ):
        return HARMLESS
    if operator in {"<", "<&"}:
        where = case.spot(target)
        if where == "device":
            return case.ask("reads a device")
        return HARMLESS if case.place.walls else _read(case, target)
    return write(case, target)


def shown_to_all(case: Case) -> Verdict:
    """What a program without a sandbox may show: the workspace, the system's own files."""
    words = (word for word in case.args if not word.text.startswith("-") or "/" in word.text)
    return strictest((_read(case, word) for word in words), HARMLESS)


def walks(case: Case) -> Verdict:
    """A program that reads the whole workspace reads what is hidden there, too."""
    options = read_options(case.args)
    if case.name not in _DEEP or not options.has(*_DEEP[case.name]):
        return HARMLESS
    here = len(options.operands) < 2 or any(case.spot(x) == "workspace" for x in options.operands)
    return case.ask("reads octo_lab's own folder, too, without a sandbox") if here else HARMLESS


def _read(case: Case, word: Word) -> Verdict:
    text = word.text.replace(HOME, case.place.home)
    if named := PrivateNames().in_text(text):
        return case.ask(f"reads {named!r} without a sandbox")
    if may_be_own(word, case.place):
        return case.ask("names octo_lab's own folder, without a sandbox")
    where = case.spot(word)
    proc = text.startswith("/proc") or "/proc/" in text
    if proc or (where in _ELSEWHERE and ("/" in text or where != "outside")):
        return case.ask("reads outside the workspace without a sandbox")
    return HARMLESS


def _remove(case: Case) -> Verdict:
    options = read_options(case.args)
    if any("no-preserve-root".startswith(name) and len(name) > 3 for name in options.long):
        return case.deny("may remove the whole file system")
    if not options.has("r", "R", "recursive", "d"):
        return strictest((_gone(case, word) for word in options.operands), HARMLESS)
    start = case.ask("removes folders with all that is in them") if options.operands else HARMLESS
    return strictest((_gone(case, word) for word in options.operands), start)


def _gone(case: Case, word: Word) -> Verdict:
    where = case.spot(word)
    if where in _LOST:
        return case.deny(f"removes {_WORDS[where]}")
    return HARMLESS if where in _FINE else case.ask(f"removes {_WORDS[where]}")


def _permissions(case: Case) -> Verdict:
    options = read_options(case.args, valued=("reference", "from"))
    mode, *files = options.operands or [Word("")]
    if options.has("reference"):
        files = options.operands
    whole = options.has("R", "recursive")
    start = HARMLESS
    if case.name == "chmod" and _sets_id(mode.text):
        start = case.ask("lets a program run with its owner's rights")
    return strictest((_changed(case, word, whole=whole) for word in files), start)


def _sets_id(mode: str) -> bool:
    found = _MODE.fullmatch(mode)
    return found is not None and (not mode.isdigit() or int(mode[-4], 8) >= 4 or mode[-4] in "23")


def _changed(case: Case, word: Word, *, whole: bool) -> Verdict:
    where = case.spot(word)
    if where in _LOST and (whole or where in _SEALED):
        return case.deny(f"changes {_WORDS[where]}")
    return (
        HARMLESS if where in _FINE or where == "workspace" else case.ask(f"changes {_WORDS[where]}")
    )


def _copy_bytes(case: Case) -> Verdict:
    """``dd``: what it writes to decides."""
    found = [word for word in case.args if word.text.startswith("of=")]
    targets = [Word(word.text[3:], word.bare, word.globs) for word in found]
    return strictest((write(case, word) for word in targets), case.ask("copies bytes as they lie"))


def _written(case: Case) -> Verdict:
    """Programs whose every operand is a file that they make or change."""
    options = read_options(case.args, valued=_VALUED.get(case.name, ()))
    if case.name == "truncate" and any(case.spot(x) == "workspace" for x in options.operands):
        return case.ask("empties every file")
    return strictest((write(case, word) for word in options.operands), HARMLESS)


def _moved(case: Case) -> Verdict:
    options = read_options(case.args, valued=("t", "S", "target-directory", "suffix"))
    start = strictest((_taken(case, word) for word in options.operands[:-1]), HARMLESS)
    return start.or_worse(_put(case, options.operands, options.values.values()))


def _taken(case: Case, word: Word) -> Verdict:
    where = case.spot(word)
    if where in _LOST:
        return case.deny(f"moves {_WORDS[where]}")
    return HARMLESS if where in _FINE else case.ask(f"moves {_WORDS[where]}")


def _copied(case: Case) -> Verdict:
    valued = ("t", "S", "target-directory", "suffix", "m", "o", "g", "mode", "owner", "group")
    options = read_options(case.args, valued=valued)
    return _put(case, options.operands, options.values.values())


def _put(case: Case, operands: list[Word], named: Iterable[Word]) -> Verdict:
    targets = [
        *operands[-1:],
        *(word for word in named if "/" in word.text or word.literal is None),
    ]
    return strictest((write(case, word) for word in targets), HARMLESS)


def _destroys(case: Case) -> Verdict:
    if read_options(case.args).has("help", "version"):
        return HARMLESS
    return case.deny("makes or wipes a file system")


def _disk(case: Case) -> Verdict:
    if read_options(case.args).has("l", "list", "help", "version"):
        return case.ask("looks at disks")
    return case.deny("changes the parts of a disk")


def _found(case: Case) -> Verdict:
    """``find``: what it runs and removes, below where it looks."""
    roots = _roots(case.args)
    verdict, at = HARMLESS, 0
    while at < len(case.args):
        text = case.args[at].text
        if text in {"-exec", "-execdir", "-ok", "-okdir"}:
            end = _end(case.args, at)
            verdict = strictest((_run_on(case, at, end, root) for root in roots), verdict)
            at = end
        elif text == "-delete":
            start = case.ask("removes what it finds")
            verdict = verdict.or_worse(strictest((_gone(case, root) for root in roots), start))
        elif text.startswith("-fprint") or text == "-fls":
            verdict = strictest((write(case, word) for word in case.args[at + 1 : at + 2]), verdict)
        at += 1
    return verdict


def _roots(args: tuple[Word, ...]) -> list[Word]:
    roots = []
    for word in args:
        if word.text in {"-H", "-L", "-P"} or word.text.startswith(("-O", "-D")):
            continue
        if word.text.startswith(("-", "(", "!")):
            break
        roots.append(word)
    return roots or [Word(".")]


def _end(args: tuple[Word, ...], at: int) -> int:
    for index in range(at + 1, len(args)):
        if args[index].text == ";" or (args[index].text == "+" and args[index - 1].text == "{}"):
            return index
    return len(args)


def _run_on(case: Case, at: int, end: int, root: Word) -> Verdict:
    """What it finds fits a pattern; without walls it may be a hidden file, too."""
    verdict = case.again(_filled(case.args[at + 1 : end], root.text.rstrip("/") + "/*"))
    if case.place.walls:
        return verdict
    return verdict.or_worse(case.again(_filled(case.args[at + 1 : end], UNKNOWN)))


def _filled(words: Iterable[Word], found: str) -> list[Word]:
    return [
        Word(word.text.replace("{}", found), word.bare, word.globs or "{}" in word.text)
        for word in words
    ]


_VALUED: dict[str, tuple[str, ...]] = {
    "mkdir": ("m", "mode"),
    "touch": ("d", "t", "r", "date", "reference"),
    "truncate": ("s", "r", "size", "reference"),
}

RULES: dict[str, Rule] = {
    **dict.fromkeys(("rm", "grm", "unlink", "rmdir", "shred", "srm", "rimraf", "trash"), _remove),
    **dict.fromkeys(("chmod", "chown", "chgrp", "setfacl", "chattr"), _permissions),
    **dict.fromkeys(("tee", "mkdir", "touch", "truncate", "mkfifo", "mknod"), _written),
    **dict.fromkeys(("cp", "install", "ln", "link"), _copied),
    **dict.fromkeys(("mke2fs", "mkswap", "wipefs", "blkdiscard", "newfs", "badblocks"), _destroys),
    **dict.fromkeys(("fdisk", "sfdisk", "gdisk", "sgdisk", "parted", "cfdisk", "diskutil"), _disk),
    "mkfs": _destroys,
    "dd": _copy_bytes,
    "mv": _moved,
    "find": _found,
}
