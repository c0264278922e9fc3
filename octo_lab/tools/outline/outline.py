"""Finds the definitions in source code; code with errors gives those that can be seen."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from octo_lab.tools.outline.languages import Language, grammar_of

if TYPE_CHECKING:
    from tree_sitter import Node

_WIDEST = 160
_FUNCTIONS = frozenset({"arrow_function", "function_expression", "generator_function"})
_LEAD = {"type_spec": "type ", "type_alias": "type "}
_PLAIN = frozenset({"struct_specifier", "union_specifier", "enum_specifier"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Definition:
    """``signature`` as it is written, on one line; ``line`` is counted from 1."""

    line: int
    depth: int
    signature: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Outline:
    """What a file defines; ``broken``: it has syntax errors."""

    definitions: tuple[Definition, ...]
    broken: bool = False


def outline(source: bytes, language: Language) -> Outline:
    """The definitions in UTF-8 ``source``, in its order."""
    from tree_sitter import Parser

    root = Parser(grammar_of(language)).parse(source).root_node
    return Outline(definitions=tuple(_definitions(root, language)), broken=root.has_error)


def _definitions(root: Node, language: Language) -> Iterator[Definition]:
    """Depth first; what is inside a function is its own affair."""
    waiting = [(root, 0)]
    while waiting:
        node, depth = waiting.pop()
        found = _defines(node, language)
        if found:
            signature = _signature(node)
            yield Definition(line=node.start_point[0] + 1, depth=depth, signature=signature)
            if node.type not in language.outer:
                continue
        waiting += [(child, depth + found) for child in reversed(node.named_children)]


def _defines(node: Node, language: Language) -> bool:
    kind = node.type
    if kind in language.leaves or kind in language.outer:
        return kind not in _PLAIN or node.child_by_field_name("body") is not None
    value = node.child_by_field_name("value") if kind in language.named else None
    return value is not None and value.type in _FUNCTIONS


def _signature(node: Node) -> str:
    """What stands before the body."""
    body, text = _body(node), node.text or b""
    if body is not None:
        start, end = body.start_byte - node.start_byte, body.end_byte - node.start_byte
        text = text[:start] + (text[end:] if node.type == "type_definition" else b"")
    words = " ".join(text.decode(errors="replace").split())
    if node.type == "macro_definition":
        words = words.partition("{")[0]
    words = _LEAD.get(node.type, "") + words.removesuffix("=>").rstrip(" {:=;")
    return words if len(words) <= _WIDEST else f"{words[:_WIDEST]}…"


def _body(node: Node) -> Node | None:
    value = node.child_by_field_name("value")
    for holder in (node, value, node.child_by_field_name("type")):
        body = holder.child_by_field_name("body") if holder is not None else None
        if body is not None:
            return body
    lists = [child for child in node.named_children if child.type.endswith("_list")]
    inner = node.child_by_field_name("type")
    if inner is not None and inner.type in ("struct_type", "interface_type"):
        lists += [
            child for child in inner.children if child.type in ("field_declaration_list", "{")
        ]
    return lists[-1] if lists and lists[-1].type != "parameter_list" else None
