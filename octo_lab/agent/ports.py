"""What the loop asks of parts that it does not know."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from octo_lab.core.messages import ChatRequest, Message, ToolCall, Usage
from octo_lab.core.stream import StopReason


@dataclass(frozen=True, slots=True, kw_only=True)
class Compacted:
    """The messages of a request as they are sent; ``note`` is one line for the person, or ''."""

    messages: Sequence[Message]
    note: str = ""


class Compactor(Protocol):
    """Keeps requests within the model's window. Made anew for each turn."""

    async def compact(self, request: ChatRequest, *, refused: int) -> Compacted:
        """What to send instead of ``request.messages``; the very same ones when they fit.

        Called before every request of the turn with everything there is: the system message,
        the history, the person's message and the turn's own steps, never with what it gave back
        before. ``refused`` counts how often a server said in this turn that the input is too
        long: from the first time on, estimates are not to be trusted and less must be sent than
        the last time. The person's last message stays, and so does each call beside its result.
        What is stored is not touched. Raises no OctoError.
        """
        ...


class Uncut:
    """The compactor where there is none: every request is sent whole."""

    async def compact(self, request: ChatRequest, *, refused: int) -> Compacted:
        return Compacted(messages=request.messages)


UNCUT = Uncut()


@dataclass(frozen=True, slots=True, kw_only=True)
class Permission:
    """The call as it may run; ``refused`` says why it may not, if it may not."""

    call: ToolCall
    refused: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelAsked:
    """A request to a model, before it is sent; ``iteration`` counts from 1."""

    model: str
    messages: int
    iteration: int


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelAnswered:
    """What came of a request. ``usage`` is its own, ``total`` that of the turn so far."""

    model: str
    provider: str
    iteration: int
    reason: StopReason | None
    calls: int
    seconds: float
    usage: Usage
    total: Usage


class Hooks(Protocol):
    """Programs of the owner that are told what happens, and may say no. They raise nothing."""

    async def before_tool(self, call: ToolCall) -> Permission:
        """Whether the call may run, and with which arguments."""
        ...

    async def after_tool(self, call: ToolCall, result: Message) -> None: ...

    async def before_model(self, asked: ModelAsked) -> str | None:
        """Why the model must not be asked, or None when it may be."""
        ...

    async def after_model(self, answered: ModelAnswered) -> None: ...


class NoHooks:
    """The hooks where there are none."""

    async def before_tool(self, call: ToolCall) -> Permission:
        return Permission(call=call)

    async def after_tool(self, call: ToolCall, result: Message) -> None:
        return None

    async def before_model(self, asked: ModelAsked) -> str | None:
        return None

    async def after_model(self, answered: ModelAnswered) -> None:
        return None


NO_HOOKS = NoHooks()


class Steering(Protocol):
    """What the person says while the turn runs."""

    @property
    def waiting(self) -> bool:
        """Whether something was said that the model has not read."""
        ...

    def take(self) -> Sequence[Message]:
        """What was said since the last call, as user messages, oldest first."""
        ...


class NoSteering:
    """Where nobody can say anything to a running turn."""

    waiting = False

    def take(self) -> Sequence[Message]:
        return ()


NO_STEERING = NoSteering()
