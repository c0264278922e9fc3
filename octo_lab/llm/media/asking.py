"""Asks a server once and takes its whole answer, bounded in size and time."""

from __future__ import annotations

import json
import random
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import count
from typing import Any

import anyio

from octo_lab.core.errors import ProviderError, TimedOut
from octo_lab.llm.http import HttpCall, ModelHttp
from octo_lab.llm.resilience.retry import RetryPolicy
from octo_lab.llm.secret import Secret
from octo_lab.llm.wires.chat.wire import bearer
from octo_lab.llm.wires.streaming import endpoint

JSON = "application/json"


@dataclass(frozen=True, slots=True, kw_only=True)
class MediaServer:
    """A server and the model asked there; ``base_url`` usually ends in ``/v1``.

    ``seconds`` and ``limit`` (bytes) bound each answer, ``retries`` how often one is asked for.
    """

    name: str
    model: str
    base_url: str
    http: ModelHttp
    api_key: Secret | None = None
    seconds: float = 60.0
    limit: int = 33_554_432
    retries: RetryPolicy = RetryPolicy()

    async def ask(self, path: str, content_type: str, body: bytes, accept: str = JSON) -> bytes:
        """The body of the answer to a POST; raises a ProviderError."""
        key = self.api_key
        call = HttpCall(
            provider=self.name,
            model=self.model,
            url=endpoint(self.base_url, path),
            body=body,
            headers={
                "content-type": content_type,
                "accept": accept,
                **(bearer(key.reveal()) if key else {}),
            },
            api_key=key,
            taped=False,
        )
        for attempt in count():
            try:
                return await self._once(call)
            except ProviderError as exc:
                delay = self.retries.delay(attempt, random.random(), exc.retry_after)
                if not exc.retryable or delay is None:
                    raise
            await anyio.sleep(delay)
        raise AssertionError("the policy ends the retries")

    async def ask_json(self, path: str, value: Mapping[str, Any]) -> Mapping[str, Any]:
        """Ask with a JSON object, get one; raises a ProviderError."""
        body = json.dumps(value, ensure_ascii=True).encode()
        return self.read_json(await self.ask(path, JSON, body))

    def read_json(self, body: bytes) -> Mapping[str, Any]:
        try:
            answer = json.loads(body)
        except (ValueError, RecursionError):
            answer = None
        if not isinstance(answer, dict):
            raise self.odd()
        return answer

    def odd(self) -> ProviderError:
        """The error of an answer that is not what the protocol says; another would be alike."""
        return ProviderError(
            f"{self.name!r} answered what is not understood",
            hint="is the base URL that of an OpenAI-compatible server? it usually ends in /v1",
        )

    async def _once(self, call: HttpCall) -> bytes:
        body = bytearray()
        try:
            with anyio.fail_after(self.seconds):
                async with self.http.stream(call) as reply:
                    async for part in reply.parts:
                        body += part
                        if len(body) > self.limit:
                            raise self.odd()
        except TimeoutError:
            message = f"{self.name!r} did not answer within {self.seconds:g} s"
            raise TimedOut(message, hint="try again, with less at once") from None
        return bytes(body)
