"""Asks a provider one real question, to see whether it answers and how fast."""

from __future__ import annotations

import time
from contextlib import aclosing
from dataclasses import dataclass

import anyio

from octo_lab.core.errors import OctoError, ProviderError, TimedOut
from octo_lab.core.messages import ChatRequest, Message, Usage
from octo_lab.core.stream import ReasoningDelta, TextDelta, UsageReported
from octo_lab.llm.provider import Provider

PATIENCE = 60.0
QUESTION = "Reply with the single word: ready"
# Models that think first spend most of it before the word.
MAX_TOKENS = 512
MOST_SHOWN = 200


@dataclass(frozen=True, slots=True, kw_only=True)
class Checked:
    """``first`` and ``seconds``: until the first words, until the end. ``error`` is None when it
    answered.
    """

    answer: str = ""
    usage: Usage = Usage()
    first: float | None = None
    seconds: float = 0.0
    error: OctoError | None = None


async def check(provider: Provider, patience: float = PATIENCE) -> Checked:
    """Ask once, without a second try; every failure is in the result."""
    asked = _Asked()
    try:
        with anyio.fail_after(patience):
            await asked.run(provider)
    except TimeoutError:
        message = f"{provider.name!r} gave no whole answer within {patience:g} s"
        return asked.result(TimedOut(message, hint="is the server busy, or loading the model?"))
    except OctoError as exc:
        return asked.result(exc)
    if not asked.heard:
        message = f"{provider.name!r} answered, but with nothing in it"
        return asked.result(ProviderError(message, hint="does this model chat?"))
    return asked.result()


class _Asked:
    """The question under way, and what has come of it."""

    def __init__(self) -> None:
        self._began = time.perf_counter()
        self._first: float | None = None
        self._text: list[str] = []
        self._usage = Usage()

    @property
    def heard(self) -> bool:
        return self._first is not None

    async def run(self, provider: Provider) -> None:
        request = ChatRequest(
            messages=[Message(role="user", content=QUESTION)], max_tokens=MAX_TOKENS
        )
        async with aclosing(provider.stream(request)) as events:
            async for event in events:
                match event:
                    case TextDelta(text):
                        self._hear()
                        self._text.append(text)
                    case ReasoningDelta():
                        self._hear()
                    case UsageReported(usage):
                        self._usage += usage

    def _hear(self) -> None:
        if self._first is None:
            self._first = time.perf_counter() - self._began

    def result(self, error: OctoError | None = None) -> Checked:
        return Checked(
            answer=" ".join("".join(self._text).split())[:MOST_SHOWN],
            usage=self._usage,
            first=self._first,
            seconds=time.perf_counter() - self._began,
            error=error,
        )
