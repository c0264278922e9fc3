"""A JSON schema as the vendor's structured output takes it: closed objects, few keywords."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

Json = dict[str, Any]

_KEPT = ("type", "enum", "const", "title", "default", "required")
_FORMATS = frozenset(
    ("date-time", "time", "date", "duration", "email", "hostname", "uri", "ipv4", "ipv6", "uuid")
)
_TOLD = (
    *("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf", "pattern"),
    *("minLength", "maxLength", "minItems", "maxItems", "uniqueItems", "format"),
)
_REFUSED = ("patternProperties", "not", "if", "dependentSchemas", "prefixItems", "$dynamicRef")
_MOST = 1_000  # parts of a schema: references to references multiply


class _Loose(Exception):
    """The schema allows what the vendor cannot enforce."""


def closed_schema(schema: Mapping[str, Any]) -> Json | None:
    """An equal schema within the vendor's limits, or None where there is none.

    References are written out. Bounds of numbers, texts and lists, which the vendor refuses,
    become words of the description: whoever reads the answer checks it by the true schema.
    """
    try:
        closed = _Closing(schema).part(schema, ())
    except _Loose:
        return None
    return closed if closed.get("type") == "object" else None


class _Closing:
    def __init__(self, root: Mapping[str, Any]) -> None:
        self._root = root
        self._parts = 0

    def part(self, schema: object, within: tuple[str, ...]) -> Json:
        self._parts += 1
        if not isinstance(schema, Mapping) or self._parts > _MOST:
            raise _Loose
        if any(word in schema for word in _REFUSED):
            raise _Loose
        if "$ref" in schema:
            return self._referred(str(schema["$ref"]), within)
        closed = {word: schema[word] for word in _KEPT if word in schema}
        told = _told(schema)
        if told:
            closed["description"] = told
        if schema.get("format") in _FORMATS:
            closed["format"] = schema["format"]
        for word in ("anyOf", "oneOf", "allOf"):
            if word in schema:
                kept = "anyOf" if word == "oneOf" else word
                closed[kept] = [self.part(one, within) for one in _listed(schema[word])]
        if "items" in schema:
            closed["items"] = self.part(schema["items"], within)
        if schema.get("type") == "object" or "properties" in schema:
            closed |= self._object(schema, within)
        return closed

    def _object(self, schema: Mapping[str, Any], within: tuple[str, ...]) -> Json:
        fields = schema.get("properties")
        if not isinstance(fields, Mapping) or schema.get("additionalProperties"):
            raise _Loose
        return {
            "type": "object",
            "properties": {name: self.part(field, within) for name, field in fields.items()},
            "additionalProperties": False,
        }

    def _referred(self, where: str, within: tuple[str, ...]) -> Json:
        if where in within or not where.startswith("#/"):
            raise _Loose
        found: Any = self._root
        for step in where[2:].split("/"):
            found = found.get(step) if isinstance(found, Mapping) else None
        return self.part(found, (*within, where))


def _listed(schemas: object) -> Iterable[object]:
    if not isinstance(schemas, list):
        raise _Loose
    return schemas


def _told(schema: Mapping[str, Any]) -> str:
    """The description, with the limits that cannot be enforced."""
    limits = [
        f"{word}: {schema[word]}"
        for word in _TOLD
        if word in schema and not (word == "format" and schema[word] in _FORMATS)
    ]
    said = schema.get("description")
    parts = [said] if isinstance(said, str) and said else []
    return " ".join([*parts, *([f"({', '.join(limits)})"] if limits else [])])
