"""Which schemas Gemini takes, read as strictly as its ``Schema`` message."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from octo_lab.llm.wires.checks import an_array, an_object, require
from octo_lab.llm.wires.gemini.schema import FORMATS, TYPES

# fmt: off
_FIELDS = frozenset((
    "type", "format", "title", "description", "nullable", "enum", "maxItems", "minItems",
    "properties", "required", "minProperties", "maxProperties", "minLength", "maxLength",
    "pattern", "example", "anyOf", "propertyOrdering", "default", "items", "minimum", "maximum",
))
_BESIDE_ANY_OF = frozenset({"anyOf", "description", "nullable", "title"})
_OF_TYPE = {
    "properties": ("OBJECT",), "required": ("OBJECT",), "propertyOrdering": ("OBJECT",),
    "minProperties": ("OBJECT",), "maxProperties": ("OBJECT",),
    "items": ("ARRAY",), "minItems": ("ARRAY",), "maxItems": ("ARRAY",),
    "enum": ("STRING",), "pattern": ("STRING",), "minLength": ("STRING",),
    "maxLength": ("STRING",), "minimum": ("NUMBER", "INTEGER"), "maximum": ("NUMBER", "INTEGER"),
}
# fmt: on
_SIZES = ("minItems", "maxItems", "minLength", "maxLength", "minProperties", "maxProperties")
_DEEPEST = 64


def check_schema(value: object, where: str, depth: int = 0) -> None:
    """Raises Refused for what the vendor answers 400 to."""
    schema = an_object(value, where)
    require(depth <= _DEEPEST, "the schema is nested too deep", where)
    for name in schema:
        known = name in _FIELDS
        message = f"Invalid JSON payload received. Unknown name {name!r} at {where!r}: "
        require(known, f"{message}Cannot find field.", where)
    if "anyOf" in schema:
        _any_of(schema, where, depth)
        return
    kind = schema.get("type")
    require(kind in TYPES, f"{where}.type: must be one of {sorted(TYPES)}", f"{where}.type")
    for name in schema:
        fits = kind in _OF_TYPE.get(name, (kind,))
        require(fits, f"{where}.{name}: not allowed for {kind} type", f"{where}.{name}")
    _words(schema, str(kind), where)
    if kind == "ARRAY":
        require("items" in schema, f"{where}.items: missing field.", f"{where}.items")
        check_schema(schema["items"], f"{where}.items", depth + 1)
    if kind == "OBJECT":
        _object(schema, where, depth)


def _any_of(schema: Mapping[str, Any], where: str, depth: int) -> None:
    beside = set(schema) <= _BESIDE_ANY_OF
    require(beside, "when using any_of, it must be the only field set", f"{where}.any_of")
    options = an_array(schema["anyOf"], f"{where}.any_of")
    require(bool(options), f"{where}.any_of: empty", f"{where}.any_of")
    for index, option in enumerate(options):
        check_schema(option, f"{where}.any_of[{index}]", depth + 1)


def _words(schema: Mapping[str, Any], kind: str, where: str) -> None:
    for name in ("description", "title", "pattern", "format"):
        require(isinstance(schema.get(name, ""), str), f"{where}.{name}: no text", where)
    require(type(schema.get("nullable", True)) is bool, f"{where}.nullable: no boolean", where)
    form = schema.get("format")
    fits = form is None or form in FORMATS.get(kind, ())
    message = f"{where}: only {sorted(FORMATS.get(kind, ()))} are supported for {kind} type"
    require(fits, message, f"{where}.format")
    for name in _SIZES:
        size = schema.get(name, 0)
        require(type(size) is int and size >= 0, f"{where}.{name}: no size", f"{where}.{name}")
    for name in ("minimum", "maximum"):
        fits = type(schema.get(name, 0)) in (int, float)
        require(fits, f"{where}.{name}: no number", f"{where}.{name}")
    if "enum" in schema:
        values = an_array(schema["enum"], f"{where}.enum")
        require(bool(values), f"{where}.enum: empty", f"{where}.enum")
        for index, word in enumerate(values):
            fits = isinstance(word, str) and bool(word)
            require(fits, f"{where}.enum[{index}]: cannot be empty", f"{where}.enum")


def _object(schema: Mapping[str, Any], where: str, depth: int) -> None:
    fields = an_object(schema.get("properties", {}), f"{where}.properties")
    named = bool(fields) or "properties" not in schema
    message = f"{where}.properties: should be non-empty for OBJECT type"
    require(named, message, f"{where}.properties")
    for listing in ("required", "propertyOrdering"):
        names = an_array(schema.get(listing, []), f"{where}.{listing}")
        for index, name in enumerate(names):
            place = f"{where}.{listing}[{index}]"
            require(name in fields, f"{place}: property is not defined", place)
    for name, field in fields.items():
        check_schema(field, f"{where}.properties[{name}]", depth + 1)
