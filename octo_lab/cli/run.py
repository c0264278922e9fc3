"""``octo run``: ask once, print the answer, exit."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import anyio

from octo_lab.cli.ask import Asking, Question
from octo_lab.cli.connect import conversation_in, place_around, usual_iterations, warned
from octo_lab.cli.outcome import Outcome
from octo_lab.cli.printer import Printer
from octo_lab.core.errors import UsageError
from octo_lab.core.ids import new_id
from octo_lab.core.mail import AskOptions
from octo_lab.core.text import between_commas

CHAT = "main"
MAX_PROMPT = 4_000_000


@dataclass(frozen=True, slots=True, kw_only=True)
class RunOptions:
    model: str | None = None
    session: str | None = None
    tools: tuple[str, ...] | None = None
    timeout: float | None = None
    as_json: bool = False
    stream: bool | None = None
    quiet: bool = False
    workspace: Path | None = None


def run(words: Sequence[str], options: RunOptions) -> Outcome:
    """Without a named session each run has a chat of its own, so that none disturbs another."""
    text = prompt_of(words)
    place = warned(place_around(options.workspace))
    question = Question(
        text=text,
        options=AskOptions(
            model=options.model,
            session=options.session,
            tools=named_tools(options.tools),
            iterations=usual_iterations(place),
            headless=True,
        ),
        timeout=options.timeout,
        as_json=options.as_json,
    )
    opening = conversation_in(place, CHAT if options.session else f"run-{new_id()}")
    printer = _printer(options)

    async def ask() -> Outcome:
        async with opening as conversation:
            return await Asking(conversation, printer, question).run()

    return anyio.run(ask)


def named_tools(tools: Sequence[str] | None) -> tuple[str, ...] | None:
    return None if tools is None else between_commas(tools)


def prompt_of(words: Sequence[str]) -> str:
    """The words joined; ``-`` is what comes on stdin, also when there are no words."""
    if not words and sys.stdin.isatty():
        raise UsageError(
            "There is no prompt", hint="write it behind the command, or `-` to read it"
        )
    text = " ".join(_stdin() if word == "-" else word for word in words or ["-"])
    if not text.strip():
        raise UsageError(
            "The prompt is empty", hint="write it behind the command, or `-` to read it"
        )
    return text


def _stdin() -> str:
    data = sys.stdin.buffer.read(MAX_PROMPT + 1)
    if len(data) > MAX_PROMPT:
        raise UsageError("The prompt on stdin is too long", hint=f"at most {MAX_PROMPT} bytes")
    return data.decode(errors="replace")


def _printer(options: RunOptions) -> Printer:
    stream = sys.stdout.isatty() if options.stream is None else options.stream
    return Printer(out=sys.stdout, side=sys.stderr, stream=stream, quiet=options.quiet)
