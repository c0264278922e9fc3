"""Many streams at once in one loop: bare clients, alone and in small pools, or octo_lab.

``octo_on_httpx2`` is octo_lab with the other library in the place of httpx.
"""

from __future__ import annotations

import asyncio
import gc
import importlib
import json
import sys
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any

from measure import arguments, expected, run

STREAMS, EVERY, POOL = 200, 0.005, 20
Turn = Callable[[int], Any]


@asynccontextmanager
async def bare(library: str, pool: int, base_url: str, model: str) -> AsyncIterator[Turn]:
    httpx = importlib.import_module(library)
    limits = httpx.Limits(max_connections=None, max_keepalive_connections=None)
    clients = [
        httpx.AsyncClient(base_url=base_url, limits=limits, timeout=60)
        for _ in range(STREAMS // pool)
    ]

    async def turn(number: int) -> str:
        text: list[str] = []
        held = b""
        client = clients[number // pool]
        body = {"model": model}
        async with client.stream("POST", "/v1/chat/completions", json=body) as response:
            async for part in response.aiter_raw():
                *events, held = (held + part).split(b"\n\n")
                for event in events:
                    if event != b"data: [DONE]":
                        choices = json.loads(event[6:])["choices"]
                        text.append((choices[0]["delta"].get("content") or "") if choices else "")
        return "".join(text)

    yield turn
    for client in clients:
        await client.aclose()


@asynccontextmanager
async def octo(library: str, _pool: int, base_url: str, model: str) -> AsyncIterator[Turn]:
    sys.modules["httpx"] = importlib.import_module(library)
    from octo_lab.core.messages import ChatRequest, Message
    from octo_lab.llm.http import ModelHttp
    from octo_lab.llm.provider import collect
    from octo_lab.llm.provider_config import ProviderConfig
    from octo_lab.llm.wires.dialects import DIALECTS
    from octo_lab.llm.wires.streaming import Streaming

    async with ModelHttp() as http:
        config = ProviderConfig(name="b", model=model, http=http, base_url=f"{base_url}/v1")
        provider = Streaming(config, DIALECTS["chat"])
        request = ChatRequest(messages=[Message(role="user", content="hi")])

        async def turn(_number: int) -> str:
            message, _ = await collect(provider.stream(request))
            return message.content

        yield turn


WAYS: dict[str, tuple[Callable[..., Any], str, int]] = {
    "httpx": (bare, "httpx", STREAMS),
    "httpx_pools": (bare, "httpx", POOL),
    "httpx2": (bare, "httpx2", STREAMS),
    "octo": (octo, "httpx", POOL),
    "octo_on_httpx2": (octo, "httpx2", POOL),
}


async def watched(lags: list[float]) -> None:
    """How much later than asked for the loop comes back."""
    while True:
        before = time.perf_counter()
        await asyncio.sleep(EVERY)
        lags.append(time.perf_counter() - before - EVERY)


async def main() -> None:
    base_url, chunks, waves = arguments()
    make, library, pool = WAYS[sys.argv[4]]
    async with make(library, pool, base_url, f"chunks-{chunks}-slow") as turn:

        async def wave() -> None:
            texts = await asyncio.gather(*(turn(number) for number in range(STREAMS)))
            assert {text.strip() for text in texts} == {expected(chunks).strip()}

        await wave()
        gc.collect()
        lags: list[float] = []
        watch = asyncio.create_task(watched(lags))
        started = time.process_time()
        for _ in range(waves):
            await wave()
        cpu = (time.process_time() - started) * 1000 / waves / STREAMS
        watch.cancel()
        lags.sort()
        print(
            json.dumps(
                {"cpu_ms": cpu, "lag_ms": lags[-1] * 1000, "p99_ms": lags[-len(lags) // 100] * 1000}
            )
        )


run(main)
