"""Argument models as a model sees them: a JSON Schema without what only costs tokens."""

from __future__ import annotations

from typing import Any

from pydantic import BaseModel
from pydantic.json_schema import GenerateJsonSchema, JsonSchemaValue


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
    return schema
