"""octo_lab's decoding: the provider itself, without retries, turns or storage."""

from __future__ import annotations

import sys

from measure import arguments, measure, run

from octo_lab.core.messages import ChatRequest, Message
from octo_lab.core.stream import TextDelta
from octo_lab.llm.http import ModelHttp
from octo_lab.llm.provider_config import ProviderConfig
from octo_lab.llm.wires.dialects import DIALECTS
from octo_lab.llm.wires.streaming import Streaming

PATHS = {"chat": "/v1", "responses": "/v1", "anthropic": "/v1", "gemini": "/v1beta"}


async def main() -> None:
    base_url, chunks, turns = arguments()
    dialect, way = sys.argv[4:6]
    request = ChatRequest(messages=[Message(role="user", content="hi")])
    async with ModelHttp() as http:
        config = ProviderConfig(
            name="bench",
            model=f"chunks-{chunks}-{way}",
            http=http,
            base_url=base_url + PATHS[dialect],
        )
        provider = Streaming(config, DIALECTS[dialect])

        async def turn(number: int) -> str:
            text: list[str] = []
            async for event in provider.stream(request):
                if type(event) is TextDelta:
                    text.append(event.text)
            return "".join(text)

        await measure(turn, chunks, turns)


run(main)
