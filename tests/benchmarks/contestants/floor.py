"""The floor: httpx and json, nothing kept but the text."""

from __future__ import annotations

import json

import httpx
from measure import arguments, measure, run


async def main() -> None:
    base_url, chunks, turns = arguments()
    async with httpx.AsyncClient(base_url=base_url) as client:

        async def turn(number: int) -> str:
            body = {
                "model": f"chunks-{chunks}",
                "stream": True,
                "messages": [{"role": "user", "content": "hi"}],
            }
            text: list[str] = []
            async with client.stream("POST", "/chat/completions", json=body) as response:
                async for line in response.aiter_lines():
                    if line.startswith("data: ") and line != "data: [DONE]":
                        for choice in json.loads(line[6:])["choices"]:
                            text.append(choice["delta"].get("content") or "")
            return "".join(text)

        await measure(turn, chunks, turns)


run(main)
