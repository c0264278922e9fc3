"""One question, one answer: what ``octo run`` does once a conversation is open."""

from __future__ import annotations

import signal
from dataclasses import dataclass, replace

import anyio
from anyio.abc import TaskGroup

from octo_lab.channels.answers import answers, ends
from octo_lab.channels.inbox import Heard
from octo_lab.cli.conversation import Conversation
from octo_lab.cli.outcome import Outcome
from octo_lab.cli.printer import Printer, answer_json
from octo_lab.core.mail import AskOptions, OutboundMessage, Stop
from octo_lab.core.turns import TurnSnapshot

FAILED = 1
TIMED_OUT = 124
STOP_WITHIN = 10.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """``timeout``: seconds until the turn is stopped."""

    text: str
    options: AskOptions
    timeout: float | None = None
    as_json: bool = False


class Asking:
    """Follows one question to its end, also to one that a signal or the time limit makes."""

    def __init__(self, conversation: Conversation, printer: Printer, question: Question) -> None:
        self._conversation = conversation
        self._printer = printer
        self._question = question
        self._last: Heard | None = None
        self._stopped = 0

    async def run(self) -> Outcome:
        id_ = await self._conversation.ask(self._question.text, self._question.options)
        try:
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(self._obey_signals, id_, tasks)
                tasks.start_soon(self._keep_time, id_, tasks)
                await self._follow(id_)
                tasks.cancel_scope.cancel()
        finally:
            self._print_end()
        return self._outcome()

    async def _follow(self, id_: str) -> None:
        async for heard in self._conversation.heard():
            if answers(heard, id_):
                self._last = heard
                if isinstance(heard, TurnSnapshot) and not self._question.as_json:
                    self._printer.show(heard)
                if ends(heard):
                    return

    async def _obey_signals(self, id_: str, tasks: TaskGroup) -> None:
        with anyio.open_signal_receiver(signal.SIGINT, signal.SIGTERM) as signals:
            async for signum in signals:
                if self._stopped:  # told twice: do not wait for the rest
                    tasks.cancel_scope.cancel()
                self._stop(128 + signum, id_, tasks)

    async def _keep_time(self, id_: str, tasks: TaskGroup) -> None:
        if self._question.timeout is not None:
            await anyio.sleep(self._question.timeout)
            self._stop(TIMED_OUT, id_, tasks)

    def _stop(self, code: int, id_: str, tasks: TaskGroup) -> None:
        """Ask for the end of the turn; what it has said so far still comes."""
        self._stopped = self._stopped or code
        tasks.cancel_scope.deadline = anyio.current_time() + STOP_WITHIN
        tasks.start_soon(self._conversation.control, Stop(message_id=id_))

    def _print_end(self) -> None:
        match self._last:
            case None:
                return
            case OutboundMessage(failed=False) as told if self._stopped and self._question.as_json:
                self._printer.out.write(answer_json(replace(told, failed=True)) + "\n")
            case heard if self._question.as_json:
                self._printer.out.write(answer_json(heard) + "\n")
            case OutboundMessage(failed=False, text=text) if not self._stopped:
                self._printer.say(text)
            case TurnSnapshot() as turn:
                self._printer.say(turn.text)
        self._printer.end()

    def _outcome(self) -> Outcome:
        match self._last:
            case OutboundMessage(failed=True, text=text, hint=hint):
                return Outcome(code=FAILED, error=text, hint=hint)
            case OutboundMessage() if self._stopped:  # before the turn began
                return self._unfinished()
            case OutboundMessage() | TurnSnapshot(state="completed"):
                return Outcome()
            case TurnSnapshot(state="failed", error=error) if error is not None:
                return Outcome(code=FAILED, error=error.message, hint=error.hint)
        return self._unfinished()

    def _unfinished(self) -> Outcome:
        if self._stopped == TIMED_OUT:
            error = f"No complete answer within {self._question.timeout:g} s"
            return Outcome(code=TIMED_OUT, error=error, hint="allow more with --timeout")
        error = "Stopped before the answer was complete"
        return Outcome(code=self._stopped or FAILED, error=error, hint="ask again to go on")
