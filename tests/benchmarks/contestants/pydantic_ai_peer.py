"""The peer `pydantic-ai`, streaming deltas."""

from __future__ import annotations

from measure import arguments, measure, run
from pydantic_ai import Agent
from pydantic_ai.models.openai import OpenAIChatModel
from pydantic_ai.providers.openai import OpenAIProvider


async def main() -> None:
    base_url, chunks, turns = arguments()
    provider = OpenAIProvider(base_url=base_url, api_key="none")
    agent = Agent(OpenAIChatModel(f"chunks-{chunks}", provider=provider))

    async def turn(number: int) -> str:
        async with agent.run_stream("hi") as result:
            return "".join([t async for t in result.stream_text(delta=True, debounce_by=None)])

    await measure(turn, chunks, turns)


run(main)
