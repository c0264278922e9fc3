"""The vendors' own clients, streaming."""

from __future__ import annotations

import sys

from measure import arguments, measure, run

HI = [{"role": "user", "content": "hi"}]


def openai(base_url: str):  # type: ignore[no-untyped-def]
    from openai import AsyncOpenAI

    return AsyncOpenAI(base_url=f"{base_url}/v1", api_key="none")


def anthropic(base_url: str):  # type: ignore[no-untyped-def]
    from anthropic import AsyncAnthropic

    return AsyncAnthropic(base_url=base_url, api_key="none")


def gemini(base_url: str):  # type: ignore[no-untyped-def]
    from google import genai

    return genai.Client(api_key="none", http_options={"base_url": base_url}).aio


async def chat_texts(client, model):  # type: ignore[no-untyped-def]
    stream = await client.chat.completions.create(model=model, messages=HI, stream=True)
    async for chunk in stream:
        for choice in chunk.choices:
            yield choice.delta.content or ""


async def responses_texts(client, model):  # type: ignore[no-untyped-def]
    stream = await client.responses.create(model=model, input="hi", stream=True)
    async for event in stream:
        if event.type == "response.output_text.delta":
            yield event.delta


async def anthropic_texts(client, model):  # type: ignore[no-untyped-def]
    stream = await client.messages.create(model=model, messages=HI, max_tokens=9, stream=True)
    async for event in stream:
        if event.type == "content_block_delta":
            yield event.delta.text


async def gemini_texts(client, model):  # type: ignore[no-untyped-def]
    async for chunk in await client.models.generate_content_stream(model=model, contents="hi"):
        yield chunk.text or ""


SDKS = {
    "chat": (openai, chat_texts),
    "responses": (openai, responses_texts),
    "anthropic": (anthropic, anthropic_texts),
    "gemini": (gemini, gemini_texts),
}


async def main() -> None:
    base_url, chunks, turns = arguments()
    dialect, way = sys.argv[4:6]
    connect, texts = SDKS[dialect]
    client = connect(base_url)

    async def turn(number: int) -> str:
        return "".join([text async for text in texts(client, f"chunks-{chunks}-{way}")])

    await measure(turn, chunks, turns)


run(main)
