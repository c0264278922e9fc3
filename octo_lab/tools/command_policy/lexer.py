"""Cuts a command line into words and operators, by the rules of the Bash manual, chapter 3.1."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass

from octo_lab.tools.command_policy.syntax import HERE, HOME, UNKNOWN, Unreadable, Word

_OPERATOR = re.compile(r"<<<|<<-|<<|&>>|;;&|\|\||&&|;;|;&|\|&|&>|>>|>\||>&|<>|<&|[;&|<>()\n]")
_REDIRECTS = frozenset({"<", ">", ">>", ">|", "<>", "<&", ">&", "&>", "&>>", "<<", "<<-", "<<<"})
_CONTROL = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]")
_PLAIN = re.compile(r"[^\s\\'\"`$<>|&;()~#{}*?\[\]]+")
_DOUBLE = re.compile(r"[^\\\"`$]+")
_NAME = re.compile(r"[A-Za-z_]\w*|[0-9*@#?$!-]")
_ESCAPE = re.compile(
    r"\\(?:x([0-9A-Fa-f]{1,2})|u([0-9A-Fa-f]{1,4})|U([0-9A-Fa-f]{1,8})|([0-7]{1,3})|c(.)|(.))", re.S
)
_LETTERS = {"n": "\n", "t": "\t", "r": "\r", "a": "\a", "b": "\b", "e": "\x1b", "E": "\x1b"}
_KNOWN = {"HOME": HOME, "PWD": HERE}
_LIST = re.compile(r",|\.\.")
_SUM = r"[\w\s+\-*/%=!<>&|^~?:,$]"
_ARITHMETIC = re.compile(rf"\((?:{_SUM}|(?<!\$)\({_SUM}*+\))*+\)\)")
_DEEPEST = 12


@dataclass(frozen=True, slots=True)
class Token:
    """``word`` or ``operator``; ``glued``: no blank stands before it, ``end``: where it ends."""

    word: Word | None
    operator: str
    glued: bool
    end: int


class Lexer:
    """Reads one text; ``inner`` takes each text that the shell runs to build a word.

    ``substitute`` reads commands from a place in this text up to their ``)``.
    """

    def __init__(
        self,
        text: str,
        *,
        substitute: Callable[[Lexer], None],
        inner: Callable[[str], None],
        depth: int = 0,
    ) -> None:
        if _CONTROL.search(text):
            raise Unreadable("it holds control characters")
        if "$\\\n" in text:
            raise Unreadable("a dollar sign is cut off from what it expands")
        self.text, self.at, self.depth = text, 0, depth
        self._substitute, self._inner = substitute, inner
        self.waiting: list[Callable[[], None]] = []

    def next(self) -> Token | None:
        """The next token; None at the end. Raises Unreadable."""
        start = self.at
        self._skip_blanks()
        if self.at >= len(self.text):
            return None
        glued = self.at == start
        found = _OPERATOR.match(self.text, self.at)
        if found and not self._opens_process(found.group()):
            self.at = found.end()
            if found.group() == "\n":
                self._read_documents()
            return Token(None, found.group(), glued, self.at)
        return Token(self._word(), "", glued, self.at)

    def line(self) -> str:
        """The rest of the line, for here-documents; raises Unreadable where there is none."""
        if self.at >= len(self.text):
            raise Unreadable("a here-document does not end")
        end = self.text.find("\n", self.at)
        end = len(self.text) if end < 0 else end
        line, self.at = self.text[self.at : end], end + 1
        return line

    def _read_documents(self) -> None:
        waiting, self.waiting = self.waiting, []
        for read in waiting:
            read()

    def _skip_blanks(self) -> None:
        while self.at < len(self.text):
            if self.text[self.at] in " \t":
                self.at += 1
            elif self.text.startswith("\\\n", self.at):
                self.at += 2
            elif self.text[self.at] == "#":
                end = self.text.find("\n", self.at)
                self.at = len(self.text) if end < 0 else end
            else:
                return

    def _opens_process(self, operator: str) -> bool:
        return operator in {"<", ">"} and self.text.startswith("(", self.at + 1)

    def _word(self) -> Word:
        parts: list[str] = []
        bare, globs, braces, splits, start = True, False, False, False, self.at
        while self.at < len(self.text):
            char = self.text[self.at]
            if char in "<>" and self._opens_process(char):
                self.at += 2
                parts.append(self._commands())
            elif char in " \t\n;&|<>()":
                break
            else:
                globs, braces = globs or char in "*?[", braces or char == "{"
                bare = bare and (char not in "\\'\"`$" or self.text.startswith("\\\n", self.at))
                parts.append(self._piece(char, first=self.at == start))
                splits = splits or (char in "$`" and UNKNOWN in parts[-1])
        lists = braces and _LIST.search(self.text, start, self.at) is not None
        return Word("".join(parts), bare, globs or lists, splits)

    def _piece(self, char: str, *, first: bool) -> str:
        match char:
            case "\\":
                return self._escaped()
            case "'":
                return self._single()
            case '"':
                return self._double()
            case "`":
                return self._backticks(quoted=False)
            case "$":
                return self._dollar(quoted=False)
            case "~" if first or self.text[self.at - 1] in "=:":
                return self._tilde()
        found = _PLAIN.match(self.text, self.at)
        piece = found.group() if found else char
        self.at += len(piece)
        return piece

    def _escaped(self) -> str:
        """A backslash outside quotes: it keeps the next character; before a newline it goes."""
        char = self.text[self.at + 1 : self.at + 2]
        self.at += 2
        return "" if char == "\n" else char or "\\"

    def _single(self) -> str:
        end = self.text.find("'", self.at + 1)
        if end < 0:
            raise Unreadable("a single quote does not end")
        piece, self.at = self.text[self.at + 1 : end], end + 1
        return piece

    def _double(self) -> str:
        self.at += 1
        parts: list[str] = []
        while self.at < len(self.text):
            char = self.text[self.at]
            if char == '"':
                self.at += 1
                return "".join(parts)
            parts.append(self.in_double(char))
        raise Unreadable("a double quote does not end")

    def in_double(self, char: str) -> str:
        """One piece of text as between double quotes."""
        match char:
            case "\\":
                after = self.text[self.at + 1 : self.at + 2]
                self.at += 2
                return after.replace("\n", "") if after and after in '$`"\\\n' else "\\" + after
            case "`":
                return self._backticks(quoted=True)
            case "$":
                return self._dollar(quoted=True)
        found = _DOUBLE.match(self.text, self.at)
        piece = found.group() if found else char
        self.at += len(piece)
        return piece

    def _backticks(self, *, quoted: bool) -> str:
        start = self.at = self.at + 1
        while True:
            end = re.compile(r"[\\`]").search(self.text, self.at)
            if end is None:
                raise Unreadable("a backtick does not end")
            self.at = end.end() + (end.group() == "\\")
            if end.group() == "`":
                break
        kept = r"\\([\\`$\"])" if quoted else r"\\([\\`$])"
        self._inner(re.sub(kept, r"\1", self.text[start : self.at - 1]))
        return UNKNOWN

    def _dollar(self, *, quoted: bool) -> str:
        after = self.text[self.at + 1 : self.at + 2]
        match after:
            case "(":
                self.at += 2
                return self._commands()
            case "{":
                return self._braced(quoted=quoted)
            case "'" if not quoted:
                return self._ansi()
            case '"' if not quoted:
                self.at += 1
                return self._double()
        found = _NAME.match(self.text, self.at + 1)
        if found is None:
            if after == "[":
                raise Unreadable("it uses the old form of arithmetic")
            self.at += 1
            return "$"
        self.at = found.end()
        return _KNOWN.get(found.group(), UNKNOWN)

    def _commands(self) -> str:
        """Behind ``$(``, ``<(`` or ``>(``: what it gives is not known, what it runs is read."""
        if self.skip_sum():
            return UNKNOWN
        self.depth += 1
        if self.depth > _DEEPEST:
            raise Unreadable("it is nested too deeply")
        self._substitute(self)
        self.depth -= 1
        return UNKNOWN

    def skip_sum(self) -> bool:
        """Behind a ``(``: go past an arithmetic expression that runs nothing, if one is there."""
        found = _ARITHMETIC.match(self.text, self.at)
        self.at = found.end() if found else self.at
        return found is not None

    def _braced(self, *, quoted: bool) -> str:
        start = self.at = self.at + 2
        self.depth += 1
        if self.depth > _DEEPEST:
            raise Unreadable("it is nested too deeply")
        while self.at < len(self.text):
            char = self.text[self.at]
            if char == "}":
                break
            if char == "'" and quoted:
                raise Unreadable("a quote stands in an expansion between quotes")
            self._in_braces(char)
        else:
            raise Unreadable("an expansion does not end")
        self.depth -= 1
        name, self.at = self.text[start : self.at], self.at + 1
        if name.endswith("@P"):
            raise Unreadable("an expansion runs what a variable holds")
        return _KNOWN.get(name, UNKNOWN)

    def _in_braces(self, char: str) -> None:
        match char:
            case "'":
                self._single()
            case '"':
                self._double()
            case "\\" | "`" | "$":
                self.in_double(char)
            case _:
                self.at += 1

    def _ansi(self) -> str:
        """``$'…'``, with the escapes of C."""
        found = re.compile(r"((?:[^'\\]|\\.)*)'", re.S).match(self.text, self.at + 2)
        if found is None:
            raise Unreadable("a single quote does not end")
        self.at = found.end()
        text = _ESCAPE.sub(_unescaped, found.group(1))
        return _CONTROL.sub(UNKNOWN, text)

    def _tilde(self) -> str:
        found = re.compile(r"~([^\s/:;&|<>()'\"\\`$]*)").match(self.text, self.at)
        name = found.group(1) if found else ""
        if self.text[self.at + 1 + len(name) : self.at + 2 + len(name)] in ("'", '"', "\\"):
            self.at += 1
            return "~"
        self.at += 1 + len(name)
        return {"": HOME, "+": HERE}.get(name, UNKNOWN)


def is_redirect(operator: str) -> bool:
    return operator in _REDIRECTS


def _unescaped(found: re.Match[str]) -> str:
    two, four, eight, octal, control, letter = found.groups()
    if code := two or four or eight:
        return chr(int(code, 16)) if int(code, 16) < 0x110000 else UNKNOWN
    if octal:
        return chr(int(octal, 8) & 0xFF)
    if control:
        return UNKNOWN
    if letter in "\\'\"?":
        return str(letter)
    return _LETTERS.get(letter, f"\\{letter}")
