"""One of several models that may answer: its provider, its circuit, its measurements."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Collection, Generator, Sequence
from contextlib import aclosing, contextmanager

from octo_lab.core.errors import ConfigError, ProviderError, StreamCut
from octo_lab.core.messages import ChatRequest, Usage
from octo_lab.core.replies import SlotInfo
from octo_lab.core.stream import Done, StreamEvent, UsageReported
from octo_lab.llm.provider import Events, Provider
from octo_lab.llm.resilience.begun import begins, opening
from octo_lab.llm.resilience.catalog import CatalogEntry, Price
from octo_lab.llm.resilience.circuit import Circuit, Clock
from octo_lab.llm.resilience.failures import blames
from octo_lab.llm.resilience.policy import RouterPolicy
from octo_lab.llm.resilience.scores import Standing, percentile
from octo_lab.llm.resilience.tally import Tally


class Slot:
    """Measures every request that goes through it. ``price`` is dollars for a million tokens in,
    and out; without it the catalogue's is taken.

    A request that was closed or cancelled before its end is not counted.
    """

    def __init__(
        self,
        provider: Provider,
        policy: RouterPolicy = RouterPolicy(),
        *,
        entry: CatalogEntry | None = None,
        price: Price | None = None,
        clock: Clock = time.monotonic,
    ) -> None:
        self.provider = provider
        self.entry = entry
        self.circuit = Circuit(policy.circuit, clock)
        self.tally = Tally(policy.ema_alpha, entry)
        self.asked_at = float("-inf")
        self.price = price or (entry.price if entry else None)
        self._clock = clock

    @property
    def label(self) -> str:
        return f"{self.provider.name}/{self.provider.model}"

    @property
    def cost(self) -> float | None:
        """Dollars for a million tokens in and a million out; None: unknown."""
        return None if self.price is None else sum(self.price)

    @property
    def standing(self) -> Standing:
        tally, entry = self.tally, self.entry
        return Standing(
            calls=tally.calls,
            error_rate=tally.error_rate,
            expected_errors=1 - entry.stability if entry else 0.0,
            throughput=tally.throughput,
            latency=tally.first,
            quality=entry.ds_output if entry else None,
            cost=self.cost,
        )

    def info(self, score: float | None = None) -> SlotInfo:
        tally, spent = self.tally, self.tally.usage
        return SlotInfo(
            name=self.label,
            state=self.circuit.state,
            calls=tally.calls,
            errors=tally.errors,
            error_rate=tally.error_rate,
            latency=tally.first,
            p50=percentile(tally.firsts, 0.5),
            p95=percentile(tally.firsts, 0.95),
            throughput=tally.throughput,
            cost=spent.dollars,
            score=score,
        )

    async def ask(self, request: ChatRequest, within: float = math.inf) -> Events:
        """Stream the answer, which must begin ``within`` seconds; raises ProviderErrors.

        One that is set up wrongly is one that cannot answer: the others may.
        """
        with self._watched() as see, _of_one_model():
            async with aclosing(self.provider.stream(request)) as events:
                whole = False
                async with aclosing(opening(events, self.label, within)) as head:
                    async for event in head:
                        yield see(event)
                        whole = isinstance(event, Done)
                async for event in events:
                    yield see(event)
                    whole = isinstance(event, Done)
            if not whole:
                raise StreamCut(f"The answer of {self.label!r} ended in the middle")

    @contextmanager
    def _watched(self) -> Generator[Callable[[StreamEvent], StreamEvent]]:
        """One request, from its start to its end; each of its events must be shown, and comes
        back as it goes on.
        """
        watch = _Watch(self._clock)
        trial = self.circuit.begin()
        self.asked_at = self._clock()

        def see(event: StreamEvent) -> StreamEvent:
            if watch.sees_whole(event):
                self.circuit.succeed()
                self.tally.answered(watch.first, watch.seconds, watch.usage)
            if isinstance(event, UsageReported):
                return UsageReported(event.usage, by=self.label)
            return event

        try:
            yield see
        except ProviderError as exc:
            if blames(exc):
                self.tally.failed()
                self.circuit.fail(exc.retry_after)
            raise
        finally:
            self.circuit.leave(trial)


@contextmanager
def _of_one_model() -> Generator[None]:
    try:
        yield
    except ConfigError as exc:
        raise ProviderError(exc.message, hint=exc.hint) from exc


class _Watch:
    """Times one answer."""

    def __init__(self, clock: Clock) -> None:
        self.usage = Usage()
        self.first = math.inf
        self._clock = clock
        self._began = clock()

    @property
    def seconds(self) -> float:
        return self._clock() - self._began

    def sees_whole(self, event: StreamEvent) -> bool:
        """Take in an event; tells whether it was the last."""
        if self.first == math.inf and begins(event):
            self.first = self.seconds
        if isinstance(event, UsageReported):
            self.usage += event.usage
        return isinstance(event, Done)


def in_order(slots: Sequence[Slot], tried: Collection[Slot] = ()) -> Slot | None:
    """The first untried one that may be asked now, else the least failed; None: none is left."""
    left = [slot for slot in slots if slot not in tried]
    free = next((slot for slot in left if slot.circuit.admits), None)
    return free or min(left, key=lambda slot: slot.circuit.failures, default=None)
