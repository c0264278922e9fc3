"""Writes a JSON Schema in the subset that Gemini reads: a pure function, idempotent.

The subset is the ``Schema`` message of the published REST reference. What it cannot say is left
out or said in the description; arguments are still checked against the original.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any
from urllib.parse import unquote

Json = dict[str, Any]
MOST_NODES = 2000
DEEPEST = 24
TYPES = frozenset({"STRING", "NUMBER", "INTEGER", "BOOLEAN", "ARRAY", "OBJECT"})
FORMATS = {
    "STRING": frozenset({"date-time", "enum"}),
    "NUMBER": frozenset({"float", "double"}),
    "INTEGER": frozenset({"int32", "int64"}),
}
# What a pattern of the vendor's engine lacks: looking around, and back.
_NOT_IN_RE2 = re.compile(r"\(\?[=!<]|\\[1-9]|\\k<|\(\?P=")
_BY_VALUE = {str: "STRING", bool: "BOOLEAN", int: "INTEGER", float: "NUMBER"}
_OWN_FIELD = {
    **dict.fromkeys(("properties", "required", "additionalProperties"), "OBJECT"),
    **dict.fromkeys(("items", "prefixItems", "minItems", "maxItems", "uniqueItems"), "ARRAY"),
    **dict.fromkeys(("minimum", "maximum", "multipleOf"), "NUMBER"),
}
_UNIONS = ("anyOf", "any_of", "oneOf")


def downgraded(schema: Mapping[str, Any]) -> Json:
    """The schema as Gemini takes it; one that refers to itself ends in a bare object."""
    return _Walk(schema).node(schema, 0, ())


def tool_parameters(schema: Mapping[str, Any]) -> Json | None:
    """The same for a tool; None when it takes nothing, for an object must have properties."""
    written = downgraded(schema)
    return written if written.get("properties") else None


class _Walk:
    """One walk over one schema; it counts what it writes, for references may multiply."""

    def __init__(self, root: Mapping[str, Any]) -> None:
        self._root = root
        self._left = MOST_NODES

    def node(self, value: object, depth: int, open_refs: tuple[str, ...]) -> Json:
        self._left -= 1
        if not isinstance(value, Mapping):
            return {"type": "STRING"}
        node, open_refs, ended = self._resolved(value, open_refs)
        if ended:
            return _described({"type": "OBJECT"}, node)
        if self._left <= 0 or depth > DEEPEST:
            return _described(_leaf(_type_of(node)), node)
        variants, nullable = _variants(node)
        if variants is None:
            written = self._plain(node, depth, open_refs)
        elif len(variants) == 1:
            merged = {**_without_unions(node), **variants[0]}
            written = self.node(_keep_description(merged, node), depth + 1, open_refs)
        else:
            options = _flat([self.node(one, depth + 1, open_refs) for one in variants])
            nullable = nullable or any(option.get("nullable") for option in options)
            written = _described(_any_of(options), node)
        return {**written, "nullable": True} if nullable else written

    def _resolved(
        self, value: Mapping[str, Any], open_refs: tuple[str, ...]
    ) -> tuple[Mapping[str, Any], tuple[str, ...], bool]:
        """The node with its reference and ``allOf`` put in; True at the end when it is a cycle."""
        node: Mapping[str, Any] = value
        for _ in range(DEEPEST):
            ref = node.get("$ref")
            if isinstance(ref, str):
                if ref in open_refs:
                    return node, open_refs, True
                open_refs = (*open_refs, ref)
                own = {name: word for name, word in node.items() if name != "$ref"}
                node = {**self._target(ref), **own}
            elif isinstance(node.get("allOf"), list) and node["allOf"]:
                node = _joined(node)
            else:
                return node, open_refs, False
        return node, open_refs, True

    def _target(self, ref: str) -> Mapping[str, Any]:
        """What a local pointer (``#/$defs/X``) means; {} for any other reference."""
        found: object = self._root
        if not ref.startswith("#"):
            return {}
        for step in filter(None, ref[1:].split("/")):
            key = unquote(step).replace("~1", "/").replace("~0", "~")
            found = found.get(key) if isinstance(found, Mapping) else None
        return found if isinstance(found, Mapping) else {}

    def _plain(self, node: Mapping[str, Any], depth: int, open_refs: tuple[str, ...]) -> Json:
        """A node of one type."""
        kind = _type_of(node)
        written: Json = {"type": kind}
        form = node.get("format")
        if isinstance(form, str) and form in FORMATS.get(kind, ()):
            written["format"] = form
        match kind:
            case "OBJECT":
                written.update(self._object(node, depth, open_refs))
            case "ARRAY":
                written["items"] = self.node(_item(node), depth + 1, open_refs)
                written.update(_sizes(node, "minItems", "maxItems"))
            case "STRING":
                written.update(_string(node))
            case "NUMBER" | "INTEGER":
                written.update(_bounds(node))
            case _:
                pass
        return _described(written, node)

    def _object(
        self, node: Mapping[str, Any], depth: int, open_refs: tuple[str, ...]
    ) -> Iterator[tuple[str, Any]]:
        fields = node.get("properties")
        if not isinstance(fields, Mapping) or not fields:
            return
        named = {str(k): self.node(v, depth + 1, open_refs) for k, v in fields.items()}
        yield "properties", named
        for listing in ("required", "propertyOrdering"):
            wanted = node.get(listing)
            names = wanted if isinstance(wanted, list) else ()
            kept = list(dict.fromkeys(n for n in names if isinstance(n, str) and n in named))
            if kept and (listing == "required" or len(kept) == len(named)):
                yield listing, kept
        yield from _sizes(node, "minProperties", "maxProperties")


def _leaf(kind: str) -> Json:
    """A type with nothing said about it."""
    return {"type": kind, **({"items": {"type": "STRING"}} if kind == "ARRAY" else {})}


def _variants(node: Mapping[str, Any]) -> tuple[list[Mapping[str, Any]] | None, bool]:
    """What the node may be, null apart; None where it is one thing only."""
    nullable = node.get("nullable") is True
    options = next((node[u] for u in _UNIONS if isinstance(node.get(u), list) and node[u]), None)
    if options is None or node.get("properties"):  # with fields it only says which go together
        return _by_type(node, nullable)
    kept = [one for one in options if not _is_null(one)]
    outer = {"type": node["type"]} if isinstance(node.get("type"), str) else {}
    maps = [{**outer, **(one if isinstance(one, Mapping) else {})} for one in kept]
    return [*maps] or [{"type": "string"}], nullable or len(kept) < len(options)


def _by_type(
    node: Mapping[str, Any], nullable: bool
) -> tuple[list[Mapping[str, Any]] | None, bool]:
    types = node.get("type")
    if not isinstance(types, list):
        values = node.get("enum")
        null = isinstance(values, list) and None in values
        return None, nullable or null or _is_null(node)
    named = list(dict.fromkeys(str(one).lower() for one in types))
    real = [name for name in named if name != "null"] or ["string"]
    if {"integer", "number"} <= set(real):
        real.remove("integer")
    return [_of_type(node, name) for name in real], nullable or "null" in named


def _of_type(node: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    """The node as only one of its types: what belongs to another is left out."""
    kind = "NUMBER" if name == "integer" else name.upper()
    kept = {word: value for word, value in node.items() if _OWN_FIELD.get(word, kind) == kind}
    values = kept.pop("enum", None)
    if isinstance(values, list):
        mine = [v for v in values if _BY_VALUE.get(type(v), "") == name.upper()]
        kept.update({"enum": mine} if mine else {})
    return {**kept, "type": name}


def _is_null(one: object) -> bool:
    if not isinstance(one, Mapping):
        return False
    return one.get("type") in ("null", "NULL", ["null"]) or ("const", None) in one.items()


def _without_unions(node: Mapping[str, Any]) -> Json:
    left_out = {*_UNIONS, "type", "nullable"}
    return {name: value for name, value in node.items() if name not in left_out}


def _keep_description(merged: Json, node: Mapping[str, Any]) -> Json:
    """The outer description says what the field is for; an inner one only what its type is."""
    outer = node.get("description")
    return {**merged, "description": outer} if isinstance(outer, str) and outer else merged


def _flat(options: list[Json]) -> list[Json]:
    """A choice among choices is one choice."""
    return [inner for one in options for inner in one.get("anyOf", (one,))]


def _any_of(options: list[Json]) -> Json:
    """The options, each once; the vendor takes no type beside them."""
    unique: list[Json] = []
    for option in options:
        plain = {name: value for name, value in option.items() if name != "nullable"}
        if plain not in unique:
            unique.append(plain)
    return unique[0] if len(unique) == 1 else {"anyOf": unique}


def _joined(node: Mapping[str, Any]) -> Mapping[str, Any]:
    """``allOf`` put together: fields and what is required add up, else the node itself wins."""
    out: Json = {}
    own = {name: value for name, value in node.items() if name != "allOf"}
    for part in (*node["allOf"], own):
        if not isinstance(part, Mapping):
            continue
        halves = (out.get("properties"), part.get("properties"))
        fields = [half for half in halves if isinstance(half, Mapping)]
        lists = (out.get("required"), part.get("required"))
        required = [one for one in lists if isinstance(one, list)]
        out.update(part)
        if fields:
            out["properties"] = {name: value for one in fields for name, value in one.items()}
        if required:
            out["required"] = [name for one in required for name in one]
    return out


def _type_of(node: Mapping[str, Any]) -> str:
    """The type a node names, else the one its other words imply, else text."""
    named = str(node.get("type", "")).upper()
    if named in TYPES:
        return named
    told = next((kind for name, kind in _OWN_FIELD.items() if name in node), "")
    if told:
        return told
    values = [node["const"]] if "const" in node else node.get("enum")
    kinds = {type(v) for v in values if v is not None} if isinstance(values, list) else set()
    if kinds == {int, float}:
        return "NUMBER"
    return _BY_VALUE.get(kinds.pop(), "STRING") if len(kinds) == 1 else "STRING"


def _item(node: Mapping[str, Any]) -> object:
    """What an array holds; of a tuple: anything it may hold."""
    items = node.get("items")
    tuples = node.get("prefixItems")
    several = tuples if isinstance(tuples, list) and tuples else items
    if isinstance(several, list):
        return {"anyOf": several} if several else {"type": "string"}
    return items if isinstance(items, Mapping) else {"type": "string"}


def _string(node: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    values = _texts(node)
    if values:
        yield "enum", values
    pattern = node.get("pattern")
    if isinstance(pattern, str) and pattern and not _NOT_IN_RE2.search(pattern):
        yield "pattern", pattern
    yield from _sizes(node, "minLength", "maxLength")


def _texts(node: Mapping[str, Any]) -> list[str]:
    """The values of an enumeration of texts; the vendor takes no other, and none that is empty."""
    values = [node["const"]] if "const" in node else node.get("enum")
    values = [v for v in values if v is not None] if isinstance(values, list) else []
    if not all(isinstance(value, str) for value in values):
        return []
    return list(dict.fromkeys(value for value in values if value))


def _described(written: Json, node: Mapping[str, Any]) -> Json:
    """With the description, and in it the values that no enumeration may hold."""
    said = node.get("description")
    said = said if isinstance(said, str) else ""
    values = [node["const"]] if "const" in node else node.get("enum")
    values = [v for v in values if v is not None] if isinstance(values, list) else []
    if values and "enum" not in written and "anyOf" not in written:
        listed = ", ".join(json.dumps(v, ensure_ascii=False, default=str) for v in values[:50])
        said = f"{said} (one of: {listed})".strip()
    return {**written, "description": said} if said.strip() else written


def _sizes(node: Mapping[str, Any], *names: str) -> Iterator[tuple[str, int]]:
    yield from _numbers(node, names, lambda value: type(value) is int and 0 <= value < 2**31)


def _bounds(node: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    def fits(value: object) -> bool:
        return type(value) is int or (type(value) is float and math.isfinite(value))

    yield from _numbers(node, ("minimum", "maximum"), fits)


def _numbers(
    node: Mapping[str, Any], names: tuple[str, ...], fits: Callable[[object], bool]
) -> Iterator[tuple[str, Any]]:
    for name in names:
        if name in node and fits(node[name]):
            yield name, node[name]
