"""The peer `openai-agents`, streaming, tracing off."""

from __future__ import annotations

from agents import Agent, OpenAIChatCompletionsModel, Runner, set_tracing_disabled
from measure import arguments, measure, run
from openai import AsyncOpenAI
from openai.types.responses import ResponseTextDeltaEvent


async def main() -> None:
    base_url, chunks, turns = arguments()
    set_tracing_disabled(True)
    client = AsyncOpenAI(base_url=base_url, api_key="none")
    model = OpenAIChatCompletionsModel(model=f"chunks-{chunks}", openai_client=client)
    agent = Agent(name="bench", model=model)

    async def turn(number: int) -> str:
        text: list[str] = []
        async for event in Runner.run_streamed(agent, "hi").stream_events():
            if event.type == "raw_response_event" and isinstance(
                event.data, ResponseTextDeltaEvent
            ):
                text.append(event.data.delta)
        return "".join(text)

    await measure(turn, chunks, turns)


run(main)
