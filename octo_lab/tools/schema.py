"""Argument models as a model sees them: a JSON Schema without what only costs tokens."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pydantic import BaseModel
from pydantic.json_schema import GenerateJsonSchema, JsonSchemaValue

_WIDE = 1000  # characters of a text: nobody reaches that by chance, and an error says the bound
_NULL = {"type": "null"}
_INNER = ("items", "additionalProperties")
_LISTS = ("anyOf", "oneOf", "allOf", "prefixItems")
_NAMED = ("properties", "$defs")


class _Slim(GenerateJsonSchema):
    """No generated titles; a default that has no JSON form is left out silently."""

    ignored_warning_kinds = {"skipped-choice", "non-serializable-default"}  # noqa: RUF012

    def field_title_should_be_set(self, schema: Any) -> bool:
        return False


def object_schema(args: type[BaseModel]) -> JsonSchemaValue:
    """The JSON Schema of an argument model."""
    schema = args.model_json_schema(schema_generator=_Slim)
    for part in (schema, *schema.get("$defs", {}).values()):
        part.pop("title", None)
        part.pop("additionalProperties", None)
    schema.pop("description", None)
    schema.setdefault("properties", {})
    return _short(schema)


def _short(node: Mapping[str, Any]) -> JsonSchemaValue:
    """The same without bounds and defaults that go without saying; what may be left out is not
    offered as null, too.
    """
    kept = {word: value for word, value in _given(node).items() if not _goes_without(word, value)}
    for word in _INNER:
        if isinstance(kept.get(word), Mapping):
            kept[word] = _short(kept[word])
    for word in _LISTS:
        if word in kept:
            kept[word] = [_short(one) for one in kept[word]]
    for word in _NAMED:
        if word in kept:
            kept[word] = {name: _short(one) for name, one in kept[word].items()}
    return kept


def _given(node: Mapping[str, Any]) -> Mapping[str, Any]:
    """Without the null that only stands for leaving it out."""
    options = node.get("anyOf", ())
    if node.get("default", "") is not None or _NULL not in options:
        return node
    left = [one for one in options if one != _NULL]
    own = {word: value for word, value in node.items() if word != "anyOf"}
    return {**left[0], **own} if len(left) == 1 else {**own, "anyOf": left}


def _goes_without(word: str, value: Any) -> bool:
    match word:
        case "default":
            return not value
        case "minLength":
            return bool(value <= 1)
        case "maxLength":
            return bool(value >= _WIDE)
    return False
