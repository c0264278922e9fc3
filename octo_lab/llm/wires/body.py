"""What the bodies of all dialects are written with."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from pydantic_core import to_json

from octo_lab.core.messages import ChatRequest, Effort
from octo_lab.core.text import clean
from octo_lab.llm.hints import ModelHints
from octo_lab.llm.tool_calls import is_object


def as_bytes(body: Mapping[str, Any]) -> bytes:
    """JSON as it is sent; lone surrogates become U+FFFD, for no server reads them."""
    try:
        return to_json(body, inf_nan_mode="null")  # several times as fast as the standard library
    except ValueError:
        return clean(json.dumps(body, ensure_ascii=False)).encode()


def told_effort(effort: Effort | None, hints: ModelHints) -> Effort | None:
    """How much to think, as the model may be told of it."""
    if effort is None or not hints.effort:
        return None
    return effort if hints.minimal or effort != "minimal" else "low"


def json_wish(request: ChatRequest, hints: ModelHints) -> str:
    """JSON that no schema binds the model to is asked for in words, too; '' where none is wanted.

    OpenAI insists on the word itself where any object is asked for.
    """
    schema = request.response_schema
    bound = bool(schema) and hints.structured == "schema"
    return "" if schema is None or bound else json_words(schema)


def json_words(schema: Mapping[str, Any]) -> str:
    """An empty schema means any object."""
    if not schema:
        return "Answer with one JSON object and nothing else."
    text = json.dumps(schema, ensure_ascii=False)
    return f"Answer with JSON and nothing else. It must fit this JSON Schema: {text}"


def written_arguments(arguments: str) -> str:
    """A call's arguments as text; what is no object is marked, for some servers parse them."""
    if is_object(arguments):
        return arguments
    return json.dumps(unread(arguments), ensure_ascii=False)


def unread(arguments: str) -> dict[str, Any]:
    """What stands for arguments that are no JSON object."""
    return {"invalid_json": arguments}


def is_strict(schema: object) -> bool:
    """Whether a schema may be enforced to the letter: OpenAI refuses any looser one then."""
    if isinstance(schema, Mapping):
        fields = schema.get("properties")
        if schema.get("type") == "object" or isinstance(fields, Mapping):
            named = set(fields) if isinstance(fields, Mapping) else set()
            required = set(schema.get("required") or ())
            if schema.get("additionalProperties") is not False or required != named:
                return False
        return all(map(is_strict, schema.values()))
    return not isinstance(schema, list) or all(map(is_strict, schema))
