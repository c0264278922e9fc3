"""The floor of decoding: httpx's bytes, ``json.loads`` of each event, the text of it."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from typing import Any

import httpx
from measure import arguments, measure, run


def chat(event: Any) -> str:
    choices = event["choices"]
    return (choices[0]["delta"].get("content") or "") if choices else ""


def responses(event: Any) -> str:
    return event["delta"] if event["type"] == "response.output_text.delta" else ""


def anthropic(event: Any) -> str:
    return event["delta"]["text"] if event["type"] == "content_block_delta" else ""


def gemini(event: Any) -> str:
    candidates = event.get("candidates")
    parts = candidates[0].get("content", {}).get("parts", ()) if candidates else ()
    return "".join([part.get("text", "") for part in parts])


TEXTS: dict[str, tuple[str, Callable[[Any], str]]] = {
    "chat": ("/v1/chat/completions", chat),
    "responses": ("/v1/responses", responses),
    "anthropic": ("/v1/messages", anthropic),
    "gemini": ("/v1beta/models/{}:streamGenerateContent?alt=sse", gemini),
}


async def main() -> None:
    base_url, chunks, turns = arguments()
    dialect, way = sys.argv[4:6]
    model = f"chunks-{chunks}-{way}"
    path, text_of = TEXTS[dialect]
    async with httpx.AsyncClient(base_url=base_url) as client:

        async def turn(number: int) -> str:
            text: list[str] = []
            held = b""
            url = path.format(model)
            async with client.stream("POST", url, json={"model": model}) as response:
                async for part in response.aiter_raw():
                    *events, held = (held + part).split(b"\n\n")
                    for event in events:
                        data = event[event.index(b"data: ") + 6 :]
                        if data != b"[DONE]":
                            text.append(text_of(json.loads(data)))
            return "".join(text)

        await measure(turn, chunks, turns)


run(main)
