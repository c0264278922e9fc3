from __future__ import annotations

import pytest

from octo_lab.core.errors import UsageError
from octo_lab.notebook.options import OPTIONS, Parsed, options_help, parse_options


@pytest.mark.parametrize(
    ("line", "given", "text"),
    [
        ("", {}, ""),
        ("just text -m x", {}, "just text -m x"),
        ("-m a/b the -x text  ", {"model": "a/b"}, "the -x text  "),
        ("--model=a/b text", {"model": "a/b"}, "text"),
        ("--no-tools --bg text", {"no_tools": True, "bg": True}, "text"),
        ("-t a* -t 'b c' text", {"tools": ["a*", "b c"]}, "text"),
        ("--schema '{\"t\": 0.2}' x", {"schema": '{"t": 0.2}'}, "x"),
        ("--timeout 2.5 --max-tokens 10 x", {"timeout": 2.5, "max_tokens": 10}, "x"),
        ("--stop-at END --stop-at 'a b' x", {"stop_at": ["END", "a b"]}, "x"),
        ("-- -m text", {}, "-m text"),
        ("--quiet --  two spaces", {"quiet": True}, " two spaces"),
        ("--", {}, ""),
        ("-5 degrees", {}, "-5 degrees"),
        ("- item", {}, "- item"),
        ("--- rule", {}, "--- rule"),
    ],
)
def test_leading_options_then_the_text(line: str, given: dict[str, object], text: str) -> None:
    assert parse_options(line) == Parsed(given=given, text=text)


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("--modle x", "%octo has no option --modle (did you mean --model? '--' ends the options)"),
        ("-z x", "%octo has no option -z ("),
        ("-m", "-m needs a value (-m MODEL)"),
        ("--bg=1 x", "--bg takes no value"),
        ("--timeout -3 x", "--timeout: '-3' is out of range (at least 0.1)"),
        ("--timeout nan x", "--timeout: 'nan' is out of range"),
        ("-f pdf x", "-f: No format named 'pdf' (known: auto,"),
    ],
)
def test_a_mistake_is_named_with_the_next_step(line: str, message: str) -> None:
    with pytest.raises(UsageError) as caught:
        parse_options(line)
    assert str(caught.value).startswith(message)


def test_the_help_names_every_option() -> None:
    text = options_help()
    assert all(name in text for option in OPTIONS for name in option.names)
