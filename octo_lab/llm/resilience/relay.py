"""Asks one model after the other until one begins to answer."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from contextlib import aclosing
from dataclasses import dataclass

import anyio

from octo_lab.core.errors import ProviderError
from octo_lab.core.messages import ChatRequest
from octo_lab.core.stream import Remarked
from octo_lab.core.text import first_line
from octo_lab.llm.provider import Events
from octo_lab.llm.resilience.begun import begins
from octo_lab.llm.resilience.failures import passes_on
from octo_lab.llm.resilience.policy import Patience
from octo_lab.llm.resilience.slot import Slot

SHOWN = 200
Choose = Callable[[Collection[Slot]], Slot | None]


@dataclass(frozen=True, slots=True)
class Failure:
    """A model and why it did not answer."""

    slot: Slot
    error: ProviderError

    @property
    def line(self) -> str:
        return f"{self.slot.label}: {first_line(self.error.message, SHOWN)}"

    @property
    def advice(self) -> str:
        return f" ({self.error.hint})" if self.error.hint else ""

    def remark(self, following: Slot) -> Remarked:
        """What the person is told when another takes over."""
        return Remarked(f"{self.line}; {following.label} answers")


async def relay(
    request: ChatRequest,
    choose: Choose,
    patience: Patience = Patience(),
    *,
    failed: Sequence[Failure] = (),
    heard: Callable[[Failure], None] = lambda failure: None,
) -> Events:
    """The answer of the first slot that begins one.

    ``choose`` names the slot to ask, given those that have failed; None: there is no other.
    ``failed`` have been asked before, ``heard`` is told every later failure. A change of model is
    remarked. An error is final when the answer has begun or no other model mends it; when all
    have failed, the error names each failure in a line.
    """
    deadline = anyio.current_time() + patience.total
    failures = list(failed)
    while slot := _next(choose, failures, deadline):
        if failures:
            yield failures[-1].remark(slot)
        begun = False
        last = choose([*_slots(failures), slot]) is None
        left = max(0.0, deadline - anyio.current_time())
        try:
            within = left if last else min(left, patience.each)
            async with aclosing(slot.ask(request, within)) as events:
                async for event in events:
                    begun = begun or begins(event)
                    yield event
            return
        except ProviderError as exc:
            failures.append(Failure(slot, exc))
            heard(failures[-1])
            if begun or not passes_on(exc):
                raise
    raise joined(failures)


def joined(failures: Sequence[Failure]) -> ProviderError:
    """One error that names each failure in a line, with what to do about it where that differs,
    and has them all as its cause.
    """
    errors = [failure.error for failure in failures]
    last = errors[-1]
    if len(errors) == 1:
        return last
    kind = type(last) if len({type(error) for error in errors}) == 1 else ProviderError
    wishes = [error.retry_after for error in errors if error.retry_after is not None]
    alike = len({error.hint for error in errors}) == 1
    lines = "\n".join(f"- {failure.line}{'' if alike else failure.advice}" for failure in failures)
    error = kind(
        f"None of {len(errors)} models answered:\n{lines}",
        hint=last.hint if alike else "",
        retry_after=min(wishes, default=None),
    )
    error.__cause__ = ExceptionGroup("every model failed", errors)
    return error


def _next(choose: Choose, failures: Sequence[Failure], deadline: float) -> Slot | None:
    if failures and anyio.current_time() >= deadline:
        return None
    return choose(_slots(failures))


def _slots(failures: Sequence[Failure]) -> list[Slot]:
    return [failure.slot for failure in failures]
