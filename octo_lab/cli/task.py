"""``octo task``: one piece of work, done to its result.

A task has a dialog of its own, called ``task-`` and the end of its id: nothing that was said
before is sent along, ``octo run -s NAME`` goes on with it, ``octo run -s NAME /undo`` takes back
what it changed. It runs in this process, also beside a gateway: it lasts as long as the command.
"""

from __future__ import annotations

import json
import signal
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal, TextIO

import anyio
from anyio.abc import TaskGroup

from octo_lab.app import setup_at
from octo_lab.channels.tasks import TaskDesk, run_task
from octo_lab.cli.ask import FAILED, STOP_WITHIN, TIMED_OUT
from octo_lab.cli.connect import place_around, usual_iterations, warned
from octo_lab.cli.local import LocalConversation, open_local
from octo_lab.cli.outcome import Outcome
from octo_lab.cli.printer import printable
from octo_lab.cli.run import CHAT, named_tools, prompt_of
from octo_lab.core.events import Noticed, TurnEvent
from octo_lab.core.mail import AskOptions, Stop
from octo_lab.core.progress import (
    Progress,
    ProgressEvent,
    Response,
    StreamChunk,
    StreamDone,
    Thinking,
    ToolStarted,
)
from octo_lab.core.progress_forms import Console
from octo_lab.core.task_json import result_json
from octo_lab.core.tasks import (
    Code,
    Failed,
    Plan,
    Review,
    Task,
    TaskContext,
    TaskKind,
    TaskResult,
    Test,
)
from octo_lab.core.text import clean

Kind = Literal["plan", "code", "review", "test"]
_KINDS: dict[Kind, Callable[[str], TaskKind]] = {
    "plan": Plan,
    "code": Code,
    "review": Review,
    "test": Test,
}


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskOptions:
    kind: Kind = "code"
    files: tuple[Path, ...] = ()
    model: str | None = None
    tools: tuple[str, ...] | None = None
    timeout: float | None = None
    as_json: bool = False
    quiet: bool = False
    verbose: bool = False
    workspace: Path | None = None


def do_task(words: Sequence[str], options: TaskOptions) -> Outcome:
    """Do the task and print its result; progress goes to stderr."""
    text = prompt_of(words)
    place = warned(place_around(options.workspace))
    task = Task(
        kind=_KINDS[options.kind](text),
        context=TaskContext(working_dir=place.workspace, files_in_scope=options.files),
    )
    opening = open_local(setup_at(place), CHAT)
    asked = AskOptions(
        model=options.model,
        session=_name(task),
        tools=named_tools(options.tools),
        iterations=usual_iterations(place),
        headless=True,
    )

    async def work() -> Outcome:
        async with opening as conversation:
            return await _Doing(conversation, task, options, asked).run()

    return anyio.run(work)


@dataclass(slots=True)
class Lines:
    """Prints what a turn does as lines; an answer in part, for the whole is the result. Where that
    comes on the same screen (``once``), only what was said before it is printed.
    """

    side: TextIO
    console: Console
    once: bool = False
    progress: Progress = field(default_factory=Progress)
    _said: str = ""

    def hear(self, event: TurnEvent) -> None:
        if isinstance(event, Noticed):
            self._print(f"· {event.text}\n")
        for each in self.progress.feed(event):
            if isinstance(each, Response) and self.once:
                self._said = self.console.feed(each)
            elif not isinstance(each, StreamChunk | StreamDone):
                self._more(each)

    def _more(self, event: ProgressEvent) -> None:
        if isinstance(event, ToolStarted | Thinking):
            self._print(self._said)
            self._said = ""
        self._print(self.console.feed(event))

    def _print(self, text: str) -> None:
        if text:
            self.side.write(text)
            self.side.flush()


@dataclass(slots=True)
class _Doing:
    """Follows one task to its end, also to one that a signal makes."""

    conversation: LocalConversation
    task: Task
    options: TaskOptions
    asked: AskOptions
    _stopped: int = 0

    async def run(self) -> Outcome:
        done: Task | None = None
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(self._obey_signals, tasks)
            tasks.start_soon(self._keep_time, tasks)
            done = await run_task(self._desk(), self.task, self.asked)
            tasks.cancel_scope.cancel()
        if done is not None and done.result is not None:
            self._print(done.result, _problem(done))
        return self._outcome(_problem(done))

    def _desk(self) -> TaskDesk:
        conversation, side = self.conversation, sys.stderr
        lines = Lines(
            side,
            Console(colours=side.isatty(), verbose=self.options.verbose),
            once=side.isatty() and sys.stdout.isatty() and not self.options.as_json,
        )
        if not self.options.quiet:
            side.write(f"· Its session is {_name(self.task)}\n")
        return TaskDesk(
            door=conversation.door,
            address=conversation.address,
            inbox=conversation.inbox,
            hear=_unheard if self.options.quiet else lines.hear,
        )

    async def _obey_signals(self, tasks: TaskGroup) -> None:
        with anyio.open_signal_receiver(signal.SIGINT, signal.SIGTERM) as signals:
            async for signum in signals:
                if self._stopped:  # told twice: do not wait for the rest
                    tasks.cancel_scope.cancel()
                self._stop(128 + signum, tasks)

    async def _keep_time(self, tasks: TaskGroup) -> None:
        if self.options.timeout is not None:
            await anyio.sleep(self.options.timeout)
            self._stop(TIMED_OUT, tasks)

    def _stop(self, code: int, tasks: TaskGroup) -> None:
        """Ask for the end of the task; what came of it so far is still stored and shown."""
        self._stopped = self._stopped or code
        tasks.cancel_scope.deadline = anyio.current_time() + STOP_WITHIN
        tasks.start_soon(self.conversation.control, Stop(message_id=self.task.id))

    def _print(self, result: TaskResult, problem: str) -> None:
        if self.options.as_json:
            ids = {"task_id": self.task.id, "session": _name(self.task)}
            whole = {**ids, **result_json(result), "error": problem}
            sys.stdout.write(f"{json.dumps(whole, ensure_ascii=False)}\n")
        elif result.output != problem:
            shown = printable(result.output) if sys.stdout.isatty() else clean(result.output)
            sys.stdout.write(f"{shown}\n")
        sys.stdout.flush()

    def _outcome(self, problem: str) -> Outcome:
        if self._stopped == TIMED_OUT:
            error = f"The task was not done within {self.options.timeout:g} s"
            return Outcome(code=TIMED_OUT, error=error, hint="allow more with --timeout")
        if self._stopped:
            return Outcome(code=self._stopped, error="Stopped before the task was done")
        return Outcome(code=FAILED, error=f"Not done: {problem}") if problem else Outcome()


def _problem(done: Task | None) -> str:
    """Why the task was not done, or ''."""
    if done is None:
        return "it was given up"
    return done.status.error if isinstance(done.status, Failed) else ""


def _name(task: Task) -> str:
    """Of its dialog: the end of the id is the part that is random."""
    return f"task-{task.id[-12:]}"


def _unheard(_event: TurnEvent) -> None:
    """Nobody wants to see how it goes."""
