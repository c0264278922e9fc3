"""Writes a Gemini request: a pure function from request to JSON."""

from __future__ import annotations

import json
from collections.abc import Iterator
from functools import lru_cache
from typing import Any

from octo_lab.core.messages import ChatRequest, OneTool, ToolChoice, ToolSpec
from octo_lab.llm.hints import ModelHints
from octo_lab.llm.provider_config import ProviderConfig
from octo_lab.llm.repair import repair
from octo_lab.llm.text_only import text_only
from octo_lab.llm.tool_choice import offered
from octo_lab.llm.tool_names import alias
from octo_lab.llm.wires.body import as_bytes, json_words
from octo_lab.llm.wires.gemini.contents import Transcribing, contents
from octo_lab.llm.wires.gemini.schema import downgraded, tool_parameters
from octo_lab.llm.wires.gemini.thinking import generation, thinking_config

Json = dict[str, Any]
MOST_STOPS = 5


def request_bytes(request: ChatRequest, config: ProviderConfig, hints: ModelHints) -> bytes:
    """The body as it is sent."""
    return as_bytes(generate_request(request, config, hints))


def generate_request(request: ChatRequest, config: ProviderConfig, hints: ModelHints) -> Json:
    """The body as JSON: a repaired copy of the transcript, and only fields that mean something."""
    messages = repair(request.messages if hints.tools else text_only(request.messages))
    said = [message for message in messages if message.role != "system"]
    form, words = _format(request, config.model, hints)
    rules = [m.content for m in messages if m.role == "system"] + ([words] if words else [])
    signs = generation(config.model) >= (3, 0)
    to = Transcribing(provider=config.name, model=config.model, hints=hints, signs=signs)
    turns = contents(said, to)
    body: Json = {}
    if rules:
        _instruct(body, turns, "\n\n".join(rules), hints)
    body["contents"] = turns
    body.update(_tools(request, hints))
    chosen = {**dict(_limits(request, hints)), **form}
    if thinking := thinking_config(request.effort, config.model, hints):
        chosen["thinkingConfig"] = thinking
    return {**body, "generationConfig": chosen} if chosen else body


def _instruct(body: Json, turns: list[Json], rules: str, hints: ModelHints) -> None:
    if hints.system == "user":  # open models of the vendor know no other role
        turns[0]["parts"].insert(0, {"text": rules})
    else:
        body["systemInstruction"] = {"parts": [{"text": rules}]}


def _limits(request: ChatRequest, hints: ModelHints) -> Iterator[tuple[str, Any]]:
    if request.max_tokens:
        yield "maxOutputTokens", request.max_tokens
    if request.temperature is not None and not hints.fixed_temperature:
        yield "temperature", request.temperature
    stop = list(dict.fromkeys(word for word in request.stop if word))[:MOST_STOPS]
    if stop and hints.stop:
        yield "stopSequences", stop


def _format(request: ChatRequest, model: str, hints: ModelHints) -> tuple[Json, str]:
    """The fields that ask for JSON, and the words where there are no such fields: before Gemini 3
    they do not go together with tools.
    """
    schema = request.response_schema
    if schema is None:
        return {}, ""
    with_tools = bool(request.tools) and hints.tools and generation(model) < (3, 0)
    bound = hints.structured == "schema" and not with_tools
    words = "" if bound else json_words(schema)
    if hints.structured == "words" or with_tools:
        return {}, words
    form: Json = {"responseMimeType": "application/json"}
    written = downgraded(schema) if schema and bound else {}
    return ({**form, "responseSchema": written} if written else form), words


def _tools(request: ChatRequest, hints: ModelHints) -> Json:
    tools, choice = offered(request, hints)
    if not tools:
        return {}
    named: dict[str, ToolSpec] = {}
    for tool in tools:
        named.setdefault(alias(tool.name), tool)
    declarations = [_declared(name, tool) for name, tool in named.items()]
    body: Json = {"tools": [{"functionDeclarations": declarations}]}
    calling = _calling(choice)
    return {**body, "toolConfig": {"functionCallingConfig": calling}} if calling else body


def _calling(choice: ToolChoice) -> Json | None:
    match choice:
        case "auto":
            return None
        case "none":
            return {"mode": "NONE"}
        case OneTool(name):
            return {"mode": "ANY", "allowedFunctionNames": [alias(name)]}
        case "required":
            return {"mode": "ANY"}


def _declared(name: str, tool: ToolSpec) -> Json:
    declared: Json = {"name": name, "description": tool.description.strip() or tool.name}
    parameters = _parameters(as_bytes(tool.schema))
    return {**declared, "parameters": parameters} if parameters else declared


@lru_cache(maxsize=512)  # the same tools go with every request
def _parameters(schema: bytes) -> Json | None:
    return tool_parameters(json.loads(schema))
