"""The options of ``%octo``: only leading words are options, the rest is the prompt."""

from __future__ import annotations

import difflib
import keyword
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from octo_lab.core.errors import UsageError

FORMATS = ("auto", "markdown", "text", "code", "json", "html", "image")


@dataclass(frozen=True, slots=True, kw_only=True)
class Option:
    """One option. ``value`` names its argument (``""``: a flag); ``many`` may be repeated."""

    names: tuple[str, ...]
    help: str
    value: str = ""
    many: bool = False
    read: Callable[[str], Any] = str

    @property
    def key(self) -> str:
        return self.names[-1].removeprefix("--").replace("-", "_")


@dataclass(frozen=True, slots=True, kw_only=True)
class Parsed:
    """The options given (by key), and the text after them, byte for byte."""

    given: dict[str, Any] = field(default_factory=dict)
    text: str = ""


def number(kind: type[int] | type[float], least: float) -> Callable[[str], Any]:
    def read(text: str) -> Any:
        try:
            value = kind(text)
        except ValueError:
            raise UsageError(f"{text!r} is no number") from None
        if not least <= value < float("inf"):
            raise UsageError(f"{text!r} is out of range", hint=f"at least {least:g}")
        return value

    return read


def _format(text: str) -> str:
    if text not in FORMATS:
        raise UsageError(f"No format named {text!r}", hint=f"known: {', '.join(FORMATS)}")
    return text


def _variable(text: str) -> str:
    if not text.isidentifier() or keyword.iskeyword(text):
        raise UsageError(f"{text!r} is no variable name")
    return text


OPTIONS = (
    Option(names=("-m", "--model"), value="MODEL", help="ask this model (provider/model)"),
    Option(
        names=("-s", "--session"), value="NAME", help="ask in this session; a new name opens it"
    ),
    Option(
        names=("-t", "--tools"),
        value="PATTERN",
        help="allow only these tools: names, or web_*, with commas",
        many=True,
    ),
    Option(names=("--no-tools",), help="allow no tool"),
    Option(names=("-f", "--format"), value="FORMAT", help="/".join(FORMATS), read=_format),
    Option(
        names=("--schema",),
        value="NAME",
        help="answer as JSON of this shape: a variable or file",
    ),
    Option(names=("-o", "--out"), value="VAR", help="keep the result in VAR", read=_variable),
    Option(names=("--bg",), help="let the cell end at once; the answer arrives in it later"),
    Option(
        names=("--context",),
        value="N",
        help="attach the last N cells",
        read=number(int, 0),
    ),
    Option(
        names=("-a", "--attach"),
        value="WHAT",
        help="attach a variable, expression or file",
        many=True,
    ),
    Option(names=("--temperature",), value="X", help="0 is sober", read=number(float, 0)),
    Option(names=("--max-tokens",), value="N", help="limit the answer", read=number(int, 1)),
    Option(names=("--stop-at",), value="TEXT", help="end the answer before this text", many=True),
    Option(
        names=("--timeout",),
        value="SECONDS",
        help="stop after that time",
        read=number(float, 0.1),
    ),
    Option(names=("--append",), help="run again: add a turn instead of replacing this cell's"),
    Option(names=("--quiet",), help="show nothing; the result is in the variable of -o"),
    Option(names=("--raw",), help="send the text as it is: no {{ expr }}, no @name"),
    Option(names=("-h", "--help"), help="this help"),
)
_WORD = re.compile(r"\s*(--?[A-Za-z][\w-]*)(=)?")
_END = re.compile(r"\s*--(?:\s|$)")
_VALUE = re.compile(r"""\s*("(?:[^"\\]|\\.)*"|'[^']*'|\S+)""")


def parse_options(
    line: str, options: Sequence[Option] = OPTIONS, *, magic: str = "%octo"
) -> Parsed:
    """Read leading options; raises UsageError, which names the nearest one."""
    by_name = {name: option for option in options for name in option.names}
    given: dict[str, Any] = {}
    at = 0
    while (match := _WORD.match(line, at)) and not _END.match(line, at):
        option = by_name.get(match[1]) or _unknown(match[1], by_name, magic)
        value, at = _value(line, match, option)
        _keep(given, option, value)
    if end := _END.match(line, at):
        return Parsed(given=given, text=line[end.end() :])
    return Parsed(given=given, text=line[at:].lstrip(" \t") if at or line[:1].isspace() else line)


def _value(line: str, match: re.Match[str], option: Option) -> tuple[Any, int]:
    name, attached, at = match[1], match[2], match.end()
    if not option.value:
        if attached:
            raise UsageError(f"{name} takes no value")
        return True, at
    if not (found := _VALUE.match(line, at)):
        raise UsageError(f"{name} needs a value", hint=f"{name} {option.value}")
    try:
        return option.read(_unquoted(found[1])), found.end()
    except UsageError as exc:
        raise UsageError(f"{name}: {exc.message}", hint=exc.hint) from None


def _keep(given: dict[str, Any], option: Option, value: Any) -> None:
    if option.many:
        given.setdefault(option.key, []).append(value)
    else:
        given[option.key] = value


def _unquoted(text: str) -> str:
    quoted = len(text) > 1 and text[0] == text[-1] and text[0] in "\"'"
    return text[1:-1] if quoted else text


def _unknown(name: str, known: dict[str, Option], magic: str) -> Option:
    near = difflib.get_close_matches(name, known, n=1, cutoff=0.5)
    hint = f"did you mean {near[0]}? " if near else ""
    raise UsageError(f"{magic} has no option {name}", hint=f"{hint}'--' ends the options")


def options_help(options: Sequence[Option] = OPTIONS) -> str:
    """The options, one a line, aligned."""
    left = [f"{', '.join(o.names)} {o.value}".rstrip() for o in options]
    width = max(map(len, left))
    return "\n".join(f"  {name:<{width}}  {o.help}" for name, o in zip(left, options, strict=True))
