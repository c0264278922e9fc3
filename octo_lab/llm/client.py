"""A model for programs: ask it for text, for an object, for a typed value, or for a stream."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeVar

from pydantic import BaseModel

from octo_lab.core.errors import ProviderError
from octo_lab.core.messages import ChatRequest, Effort, Message, ToolChoice, ToolSpec
from octo_lab.llm.answer import Answer
from octo_lab.llm.provider import Events, Provider, whole
from octo_lab.llm.structured import Check, Unfit, fits_schema, fits_type, json_in

T = TypeVar("T")
M = TypeVar("M", bound=BaseModel)
REPAIRS = 2  # how often a model is shown what was wrong with its object


@dataclass(frozen=True, slots=True, kw_only=True)
class ChatConfig:
    """How to ask. By default at most 4096 tokens, at temperature 0: the same answer each time, as
    far as a model can.
    """

    max_tokens: int | None = 4096
    temperature: float | None = 0.0
    tool_choice: ToolChoice = "auto"
    stop: tuple[str, ...] = ()
    effort: Effort | None = None


class LlmClient:
    """Asks one provider. Every method raises ProviderErrors."""

    def __init__(self, provider: Provider, config: ChatConfig = ChatConfig()) -> None:
        self.provider = provider
        self.config = config

    def with_config(self, config: ChatConfig) -> LlmClient:
        """The same provider, asked in another way."""
        return LlmClient(self.provider, config)

    async def generate(self, prompt: str) -> str:
        """The text of an answer."""
        return (await self.generate_with(_said(prompt))).text

    async def generate_with(
        self, messages: Sequence[Message], tools: Sequence[ToolSpec] = (), **config: Any
    ) -> Answer:
        """The whole answer to a conversation; ``config`` are fields of ChatConfig."""
        return await whole(self.stream_with(messages, tools, replace(self.config, **config)))

    def stream(self, prompt: str) -> Events:
        """The events of an answer as they come; close it to end it early."""
        return self.stream_with(_said(prompt))

    def stream_with(
        self,
        messages: Sequence[Message],
        tools: Sequence[ToolSpec] = (),
        config: ChatConfig | None = None,
    ) -> Events:
        """The events of an answer to a conversation."""
        return self.provider.stream(_request(messages, tools, config or self.config))

    async def generate_object(
        self, prompt: str, schema: Mapping[str, Any], name: str = "answer"
    ) -> Any:
        """JSON that fits ``schema``; ``name`` says what it is.

        The server keeps the model to the schema where it can. An answer that does not fit is shown
        to the model with what is wrong, at most twice; then a ProviderError lists the problems.
        Raises UsageError for what is no JSON Schema.
        """
        return await self._object(prompt, schema, name, fits_schema(schema))

    async def generate_typed(self, prompt: str, wanted: type[M]) -> M:
        """An instance of a pydantic model, made as ``generate_object`` does."""
        schema = wanted.model_json_schema()
        return await self._object(prompt, schema, wanted.__name__, fits_type(wanted))

    async def _object(
        self, prompt: str, schema: Mapping[str, Any], name: str, check: Check[T]
    ) -> T:
        titled = {**schema, "title": schema.get("title", name)}
        request = replace(_request(_said(prompt), (), self.config), response_schema=titled)
        problem = ""
        for _ in range(1 + REPAIRS):
            answer = await whole(self.provider.stream(request))
            try:
                return check(json_in(answer.text))
            except Unfit as exc:
                problem = str(exc)
            if answer.reason == "max_tokens":
                raise self._cut(name)
            told = _corrected(answer, problem, titled)
            request = replace(request, messages=[*request.messages, *told])
        asked = f"asked {1 + REPAIRS} times"
        raise ProviderError(
            f"{self.provider.name!r} gave no {name!r} that fits, {asked}: {problem}",
            hint="ask more plainly, allow more in the schema, or take a stronger model",
        )

    def _cut(self, name: str) -> ProviderError:
        return ProviderError(
            f"The {name!r} of {self.provider.name!r} was cut at {self.config.max_tokens} tokens",
            hint="raise max_tokens of the config",
        )


def _said(prompt: str) -> tuple[Message, ...]:
    return (Message(role="user", content=prompt),)


def _request(
    messages: Sequence[Message], tools: Sequence[ToolSpec], config: ChatConfig
) -> ChatRequest:
    return ChatRequest(
        messages=messages,
        tools=tools,
        tool_choice=config.tool_choice,
        max_tokens=config.max_tokens,
        temperature=config.temperature,
        stop=config.stop,
        effort=config.effort,
    )


def _corrected(answer: Answer, problem: str, schema: Mapping[str, Any]) -> tuple[Message, Message]:
    wrong = (
        f"That does not fit: {problem}\n"
        "Answer again with one JSON value that fits this JSON Schema, and nothing else:\n"
        f"{json.dumps(schema, ensure_ascii=False)}"
    )
    said = Message(role="assistant", content=answer.text or "(nothing)")
    return said, Message(role="user", content=wrong)
