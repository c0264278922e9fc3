"""Reads a command line into the simple commands that it would run, in order.

The reading is flat: whether a branch is taken does not matter, what it would run does.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace
from functools import partial

from octo_lab.tools.command_policy.lexer import Lexer, Token, is_redirect
from octo_lab.tools.command_policy.names import names
from octo_lab.tools.command_policy.syntax import Redirect, Simple, Unreadable, Word
from octo_lab.tools.command_policy.variables import UNSEEN, counts

LONGEST = 100_000
MOST_COMMANDS = 2_000
_DEEPEST = 12
_SKIPPED = names("if then elif else while until do done fi ! { }")
_ASSIGN = re.compile(r"([A-Za-z_]\w*)(?:\[[^\]]*\])?\+?=")
_NAME = re.compile(r"[A-Za-z_]\w*")
_JOINS = frozenset({"|", "|&", "&&", "||", ";", "&"})
_PAIRS = {"if": 1, "fi": -1, "do": 1, "done": -1}


def parse(text: str) -> tuple[Simple, ...]:
    """The simple commands of ``text`` and of what it substitutes; raises Unreadable."""
    if len(text) > LONGEST:
        raise Unreadable(f"it is longer than {LONGEST} characters")
    drafts = _Reader(text, depth=0, found=[]).read()
    whole: dict[int, Simple] = {}
    for draft in drafts:
        whole[id(draft)] = draft.simple(whole.get(id(draft.feeder)))
    return tuple(whole.values())


@dataclass(slots=True)
class _Function:
    name: str
    depth: int


@dataclass(slots=True, eq=False)
class _Draft:
    """A simple command while it is read: its here-documents come after it."""

    words: list[Word] = field(default_factory=list)
    assigns: list[tuple[str, Word]] = field(default_factory=list)
    redirects: list[Redirect] = field(default_factory=list)
    fed: bool = False
    feeder: _Draft | None = None
    forks: bool = False
    inside: tuple[str, ...] = ()

    @property
    def begun(self) -> bool:
        return bool(self.words or self.assigns or self.redirects)

    def simple(self, feeder: Simple | None) -> Simple:
        return Simple(
            words=tuple(self.words),
            assigns=tuple(self.assigns),
            redirects=tuple(self.redirects),
            fed=self.fed,
            feeder=feeder,
            forks=self.forks,
            inside=self.inside,
        )


class _Reader:
    """Reads one text. The texts inside it are read by readers that share ``found``."""

    def __init__(self, text: str, *, depth: int, found: list[_Draft]) -> None:
        if depth > _DEEPEST:
            raise Unreadable("it is nested too deeply")
        self._depth, self._found = depth, found
        self._functions: list[_Function] = []
        self._lexer = Lexer(text, substitute=self._substitute, inner=self._inner, depth=depth)

    def read(self) -> list[_Draft]:
        self._commands(inside=False)
        if self._lexer.waiting:
            raise Unreadable("a here-document does not end")
        return self._found

    def expand(self) -> str:
        """The text as a here-document that is not quoted."""
        parts = []
        while self._lexer.at < len(self._lexer.text):
            parts.append(self._lexer.in_double(self._lexer.text[self._lexer.at]))
        return "".join(parts)

    def _inner(self, text: str) -> None:
        _Reader(text, depth=self._depth + 1, found=self._found).read()

    def _substitute(self, lexer: Lexer) -> None:
        before = len(lexer.waiting)
        self._commands(inside=True)
        if len(lexer.waiting) != before:
            raise Unreadable("a here-document does not end")

    def _commands(self, *, inside: bool) -> None:
        """Read up to the end, or to the ``)`` of a substitution."""
        _Block(self._lexer, self._found, self._functions, inside=inside).read()


class _Block:
    """Reads one list of commands, with whatever groups stand in it."""

    def __init__(
        self, lexer: Lexer, found: list[_Draft], functions: list[_Function], *, inside: bool
    ) -> None:
        self._lexer, self._found, self._functions = lexer, found, functions
        self._inside = inside
        self._groups = 0
        self._cases = 0
        self._pattern = False
        self._open_words = 0
        self._whole = False
        self._lacks = False
        self._draft = _Draft()
        self._name_of_function = ""
        self._fed: tuple[bool, _Draft | None] = (False, None)
        self._ahead: Token | None = None

    def read(self) -> None:
        while (token := self._next()) is not None:
            if token.word is not None:
                self._word(token.word)
            elif is_redirect(token.operator):
                self._draft.redirects.append(self._redirect(token.operator))
            elif self._operator(token.operator):
                return
        self._finish()
        if self._inside:
            raise Unreadable("a group of commands does not end")

    def _finish(self) -> None:
        self._end("")
        if self._groups or self._cases or self._open_words or self._name_of_function:
            raise Unreadable("a group of commands does not end")
        if self._lacks:
            raise Unreadable("a command is missing at its end")

    def _next(self) -> Token | None:
        token, self._ahead = self._ahead, None
        return token or self._lexer.next()

    def _peek(self) -> Token | None:
        self._ahead = self._ahead or self._lexer.next()
        return self._ahead

    def _word(self, word: Word) -> None:
        if self._name_of_function and word.text != "{":
            raise Unreadable("a function has no plain body")
        if not self._draft.words:
            if found := _ASSIGN.match(word.text):
                self._assign(found, word)
                return
            if word.bare and not self._draft.begun and self._reserved(word.text):
                return
        if self._is_descriptor(word):
            return
        self._draft.words.append(word)
        self._lacks = False

    def _is_descriptor(self, word: Word) -> bool:
        """Whether these are the digits of ``2>``."""
        if not (word.bare and word.text.isdigit()):
            return False
        return bool((after := self._peek()) and after.glued and is_redirect(after.operator))

    def _assign(self, found: re.Match[str], word: Word) -> None:
        value = replace(word, text=word.text[found.end() :])
        after = self._peek() if not value.text else None
        if after and after.glued and after.operator == "(":
            self._next()
            value = self._array()
        self._draft.assigns.append((found.group(1), value))

    def _array(self) -> Word:
        parts = []
        while (token := self._next()) is not None:
            if token.word is not None:
                parts.append(token.word.text)
            elif token.operator == ")":
                self._ends_word()
                return Word(" ".join(parts), bare=False, globs=True)
            elif token.operator != "\n":
                break
        raise Unreadable("a list of values does not end")

    def _ends_word(self) -> None:
        if (after := self._peek()) and after.word and after.glued:
            raise Unreadable("a list of values goes on behind its bracket")

    def _reserved(self, text: str) -> bool:
        if self._pattern:
            return self._ends_case(text)
        if text in _SKIPPED:
            self._group(text)
            return True
        if text in {"for", "select"}:
            self._loop()
            return True
        match text:
            case "[[":
                self._test()
            case "case":
                self._case()
            case "time":
                self._time()
            case "esac":
                return self._ends_case(text)
            case "function":
                self._function()
            case "coproc":
                raise Unreadable("it starts a coprocess")
            case _:
                return False
        return True

    def _time(self) -> None:
        while (token := self._peek()) and token.word and token.word.text in {"-p", "--"}:
            self._next()

    def _ends_case(self, text: str) -> bool:
        if text != "esac" or not self._cases:
            return False
        self._cases -= 1
        self._pattern = False
        self._whole = True
        return True

    def _group(self, text: str) -> None:
        if text == "{":
            self._open()
        elif text == "}":
            self._close()
        self._open_words += _PAIRS.get(text, 0)
        if self._open_words < 0:
            raise Unreadable(f"{text!r} closes nothing")
        self._whole = text in {"}", "fi", "done"}

    def _open(self) -> None:
        self._groups += 1
        if self._name_of_function:
            self._functions.append(_Function(self._name_of_function, self._groups))
            self._name_of_function = ""

    def _close(self) -> None:
        if not self._groups:
            raise Unreadable("a bracket closes nothing")
        if self._functions and self._functions[-1].depth == self._groups:
            self._functions.pop()
        self._groups -= 1

    def _loop(self) -> None:
        """``for NAME in WORDS``: the words run nothing, the name is a variable."""
        if (name := self._peek()) and name.word:
            self._found.append(_Draft(assigns=[(name.word.text, UNSEEN)]))
        while (token := self._peek()) is not None and token.operator not in {";", "\n"}:
            if token.word is None or (token.word.bare and token.word.text == "do"):
                break
            if token.word.text.startswith("-"):
                raise Unreadable("a loop goes over options")
            self._next()
        self._whole = True

    def _test(self) -> None:
        while (token := self._next()) is not None:
            if token.word is not None and token.word.bare and token.word.text == "]]":
                self._draft.words.append(Word("[["))
                self._lacks = False
                return
            if token.word is not None and counts(token.word.text):
                raise Unreadable("a test works out a text that runs a command")
        raise Unreadable("a test does not end")

    def _case(self) -> None:
        if self._inside:
            raise Unreadable("a case stands in a substitution")
        token = self._next()
        after = self._next()
        if not (token and token.word and after and after.word and after.word.text == "in"):
            raise Unreadable("a case is not written as one")
        self._cases += 1
        self._pattern = True

    def _function(self) -> None:
        token = self._next()
        if token is None or token.word is None or token.word.literal is None:
            raise Unreadable("a function has no plain name")
        self._name_of_function = token.word.text
        after = self._peek()
        if after is not None and after.operator == "(":
            self._next()
            self._expect(")")

    def _expect(self, operator: str) -> None:
        if not (token := self._next()) or token.operator != operator:
            raise Unreadable("a bracket stands where none can")

    def _operator(self, operator: str) -> bool:
        """Take an operator; True when it ends this block."""
        if operator == "(":
            self._bracket()
            return False
        if self._pattern and operator in {"|", "\n"}:
            return False
        if operator != ")":
            self._end(operator)
            return False
        if self._pattern:
            self._draft, self._pattern = _Draft(), False
            return False
        self._end(operator)
        if self._groups:
            self._close()
            self._whole = True
            return False
        if not self._inside:
            raise Unreadable("a bracket closes nothing")
        self._finish()
        return True

    def _bracket(self) -> None:
        if self._pattern:
            return
        if self._draft.begun:
            self._define()
        elif self._lexer.skip_sum():
            self._whole = True
        else:
            self._open()

    def _define(self) -> None:
        words = self._draft.words
        if len(words) != 1 or self._draft.assigns or self._draft.redirects:
            raise Unreadable("a bracket stands where none can")
        self._expect(")")
        self._name_of_function = words[0].text
        self._draft = _Draft()

    def _redirect(self, operator: str) -> Redirect:
        if not (token := self._next()) or not token.word:
            raise Unreadable("a redirection leads nowhere")
        if operator in {"<<", "<<-"}:
            return self._document(operator, token.word)
        body = token.word.text if operator == "<<<" else None
        return Redirect(operator, token.word, body)

    def _document(self, operator: str, end: Word) -> Redirect:
        if end.literal is None:
            raise Unreadable("the end of a here-document is not known")
        index, draft = len(self._draft.redirects), self._draft
        self._lexer.waiting.append(partial(self._read_document, draft, index, operator, end))
        return Redirect("<<", end, "")

    def _read_document(self, draft: _Draft, index: int, operator: str, end: Word) -> None:
        lines = []
        while True:
            line = self._lexer.line()
            line = line.lstrip("\t") if operator == "<<-" else line
            if line == end.text:
                break
            lines.append(line)
        body = "".join(f"{line}\n" for line in lines)
        draft.redirects[index] = Redirect("<<", end, body if not end.bare else self._expanded(body))

    def _expanded(self, body: str) -> str:
        return _Reader(body, depth=self._lexer.depth + 1, found=self._found).expand()

    def _end(self, operator: str) -> None:
        """The simple command, if one stands here, is whole; ``operator`` follows it."""
        draft, self._draft = self._draft, _Draft()
        whole, self._whole = draft.begun or self._whole, False
        if operator in {"\n", ""} and not whole:
            return
        if operator in _JOINS and not whole:
            raise Unreadable("a command is missing")
        self._lacks = operator in _JOINS - {";", "&"}
        piped = operator in {"|", "|&"}
        if draft.begun:
            self._keep(draft, forks=piped or operator == "&")
        self._fed = (piped, draft if draft.begun and piped else None)
        if operator in {";;", ";&", ";;&"}:
            if not self._cases:
                raise Unreadable("a case ends that did not begin")
            self._pattern = True

    def _keep(self, draft: _Draft, *, forks: bool) -> None:
        draft.fed, draft.feeder = self._fed
        draft.forks = forks or draft.fed
        draft.inside = tuple(function.name for function in self._functions)
        self._found.append(draft)
        if len(self._found) > MOST_COMMANDS:
            raise Unreadable(f"it has more than {MOST_COMMANDS} commands")
