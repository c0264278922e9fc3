"""The verdict on a command line: harmless, to be asked about, or never to be run."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import lru_cache

from octo_lab.tools.command_policy import files, git, others, shells, variables, wrappers
from octo_lab.tools.command_policy.case import HARMLESS, Case, Rule, shown
from octo_lab.tools.command_policy.looks import only_looks, shows_files
from octo_lab.tools.command_policy.names import names
from octo_lab.tools.command_policy.parse import parse
from octo_lab.tools.command_policy.place import Place, resolved
from octo_lab.tools.command_policy.syntax import HOME, UNKNOWN, Simple, Unreadable, Word
from octo_lab.tools.verdict import Verdict, strictest

_RULES: dict[str, Rule] = {
    **others.RULES,
    **files.RULES,
    **git.RULES,
    **variables.RULES,
    **shells.RULES,
    **wrappers.RULES,
}
_STEERED = names("find fd fdfind tar bsdtar gtar sort sed gsed awk gawk mawk nawk rg zip unzip")
_CARRIED = names("rm grm shred dd mkfs chmod chown sh bash dash zsh")
_MOST_CARRIED = 6
_DEEPEST = 8
_MOST = 1_500


@lru_cache(maxsize=16)  # a call's line is judged for its decision and for what a yes covers
def judge_command(line: str, place: Place) -> Verdict:
    """Judge ``line`` as Bash would read it in ``place``. Raises nothing, runs nothing.

    What cannot be read to its end is asked about. The strictest part decides.
    """
    return _Judge(place).text(line)


def steers(line: str, place: Place) -> bool:
    """Whether a yes to ``line`` is one to what it makes of the things that git, octo_lab or
    programs that start later obey: a part that is asked about names them.
    """
    judge = _Judge(place)
    try:
        return any(judge.steered(simple) for simple in parse(line))
    except Unreadable:
        return False


class _Judge:
    """Judges one line; the texts inside it share its budget and its current folder."""

    def __init__(self, place: Place) -> None:
        self._place = place if place.folder else replace(place, folder=place.workspace)
        self._depth = 0
        self._left = _MOST

    def text(self, text: str) -> Verdict:
        self._depth += 1
        try:
            if self._depth > _DEEPEST:
                raise Unreadable("it is nested too deeply")
            return strictest(map(self._simple, parse(text)), HARMLESS)
        except Unreadable as exc:
            return Verdict("ask", f"the command line is not read to its end: {exc}")
        finally:
            self._depth -= 1

    def steered(self, simple: Simple) -> bool:
        words = (*simple.words, *(one.target for one in simple.redirects))
        case = self._whole(simple) if simple.words else self._case(simple, "", ())
        named = git.steers(case) or any(case.spot(word) == "guarded" for word in words)
        return self._simple(simple).decision == "ask" and named

    def _simple(self, simple: Simple) -> Verdict:
        verdict = self._words(simple, simple.words) if simple.words else HARMLESS
        case = self._case(simple, "…", ()) if not simple.words else self._whole(simple)
        verdict = strictest((files.redirected(case, one) for one in simple.redirects), verdict)
        for name, value in simple.assigns:
            where = repr(f"{name}=…")
            found = variables.assigned(where, name, value, walls=self._place.walls)
            verdict = verdict.or_worse(found)
        self._follow(simple)
        return verdict

    def _words(self, simple: Simple, words: Sequence[Word]) -> Verdict:
        self._left -= 1
        if self._left < 0:
            raise Unreadable("it runs too many commands")
        first, *args = words
        if UNKNOWN in first.text or (first.globs and first.text != "["):
            return Verdict("ask", f"{shown(words)} names a program that is known only when it runs")
        typed = first.text.rpartition("/")[2].lower()
        name = _known(typed)
        case = self._case(simple, name, args)
        if typed in simple.inside:
            return _itself(case)
        if name == "":
            return case.ask("names no program")
        rule = _RULES.get(name) or shells.interpreter(name)
        if rule is None:
            return self._unknown(case).or_worse(self._carried(case))
        verdict = strictest(map(rule, self._readings(simple, name, args)), rule(case))
        verdict = _hidden(case).or_worse(verdict)
        bound = name in wrappers.RULES or name in shells.RULES
        return verdict if bound else verdict.or_worse(self._unknown(case))

    def _readings(self, simple: Simple, name: str, args: Sequence[Word]) -> Iterator[Case]:
        """The words as they may be parted, where that is not known."""
        if any(word.splits for word in args):
            yield self._case(simple, name, [part for word in args for part in word.parts()])

    def _whole(self, simple: Simple) -> Case:
        return self._case(simple, simple.words[0].text, simple.words[1:])

    def _unknown(self, case: Case) -> Verdict:
        if self._place.walls:
            return HARMLESS
        if not only_looks(case.name):
            return case.ask("runs without a sandbox")
        shown_to_all = shows_files(case.name)
        return files.walks(case).or_worse(files.shown_to_all(case)) if shown_to_all else HARMLESS

    def _carried(self, case: Case) -> Verdict:
        """A program that nobody knows may run the words behind it."""
        if only_looks(case.name):
            return HARMLESS
        starts = [
            index
            for index, word in enumerate(case.args[:-1])
            if word.text.rpartition("/")[2] in _CARRIED
        ]
        if len(starts) > _MOST_CARRIED:
            return case.ask("names too many programs")
        return strictest((case.again(case.args[index:]) for index in starts), HARMLESS)

    def _case(self, simple: Simple, name: str, args: Sequence[Word]) -> Case:
        return Case(
            name=name,
            args=tuple(args),
            simple=simple,
            place=self._place,
            run=self.text,
            again=lambda words: self._nested(simple, words),
        )

    def _nested(self, simple: Simple, words: Sequence[Word]) -> Verdict:
        self._depth += 1
        try:
            if self._depth > _DEEPEST:
                raise Unreadable("it is nested too deeply")
            return self._words(simple, words) if words else HARMLESS
        finally:
            self._depth -= 1

    def _follow(self, simple: Simple) -> None:
        """After ``cd`` the rest of the line runs elsewhere."""
        name, *args = [word.text for word in simple.words[:3]] or [""]
        if name not in {"cd", "pushd", "popd"}:
            return
        targets = [word for word in simple.words[1:] if word.text not in {"-P", "-L", "--", "-e"}]
        target = targets[0] if targets else Word(HOME)
        known = name != "popd" and target.text != "-" and (args or name == "cd")
        folder = resolved(target, self._place) if known else None
        self._place = replace(self._place, folder=folder)


def _known(name: str) -> str:
    """``mkfs.ext4`` is a ``mkfs``; its rule knows it by that name."""
    short = name.partition(".")[0]
    return short if name not in _RULES and short in _RULES else name


def _itself(case: Case) -> Verdict:
    """A function that runs itself."""
    if case.simple.forks:
        return case.deny("multiplies itself without end")
    return case.ask("runs itself again and again")


def _hidden(case: Case) -> Verdict:
    """Options that are known only when the program runs."""
    for word in case.args:
        dashed = word.text.startswith("-") or (case.name in _STEERED and word.splits)
        if UNKNOWN in word.text and (dashed or _leads(case, word)):
            return case.ask("has options that are known only when it runs")
    return HARMLESS


def _leads(case: Case, word: Word) -> bool:
    return case.name in _STEERED and word.text.startswith(UNKNOWN)
