"""The languages that can be outlined: their files, their grammars, what defines something."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tree_sitter import Language as Grammar


@dataclass(frozen=True, slots=True, kw_only=True)
class Language:
    """One language.

    ``leaves`` are the kinds of nodes that define something, ``outer`` those that also hold
    definitions. ``named``: kinds that count only if their ``value`` is a function.
    """

    name: str
    module: str
    function: str = "language"
    leaves: frozenset[str]
    outer: frozenset[str] = frozenset()
    named: frozenset[str] = frozenset()


_SCRIPT = frozenset({"function_declaration", "generator_function_declaration", "method_definition"})
_TYPED = _SCRIPT | {
    "function_signature",
    "method_signature",
    "abstract_method_signature",
    "type_alias_declaration",
    "enum_declaration",
}
_TYPED_OUTER = frozenset(
    {
        "class_declaration",
        "abstract_class_declaration",
        "interface_declaration",
        "internal_module",
        "module",
    }
)
_ASSIGNED = frozenset({"variable_declarator", "public_field_definition", "field_definition"})

PYTHON = Language(
    name="Python",
    module="tree_sitter_python",
    leaves=frozenset({"function_definition"}),
    outer=frozenset({"class_definition"}),
)
JAVASCRIPT = Language(
    name="JavaScript",
    module="tree_sitter_javascript",
    leaves=_SCRIPT,
    outer=frozenset({"class_declaration"}),
    named=_ASSIGNED,
)
TYPESCRIPT = Language(
    name="TypeScript",
    module="tree_sitter_typescript",
    function="language_typescript",
    leaves=_TYPED,
    outer=_TYPED_OUTER,
    named=_ASSIGNED,
)
TSX = Language(
    name="TSX",
    module="tree_sitter_typescript",
    function="language_tsx",
    leaves=_TYPED,
    outer=_TYPED_OUTER,
    named=_ASSIGNED,
)
RUST = Language(
    name="Rust",
    module="tree_sitter_rust",
    leaves=frozenset(
        {
            "function_item",
            "function_signature_item",
            "struct_item",
            "enum_item",
            "union_item",
            "type_item",
            "macro_definition",
        }
    ),
    outer=frozenset({"impl_item", "trait_item", "mod_item"}),
)
GO = Language(
    name="Go",
    module="tree_sitter_go",
    leaves=frozenset({"function_declaration", "method_declaration", "type_spec", "type_alias"}),
)
C = Language(
    name="C",
    module="tree_sitter_c",
    leaves=frozenset(
        {
            "function_definition",
            "struct_specifier",
            "union_specifier",
            "enum_specifier",
            "type_definition",
            "preproc_function_def",
        }
    ),
)
BASH = Language(
    name="Bash",
    module="tree_sitter_bash",
    leaves=frozenset({"function_definition"}),
)

BY_ENDING: Mapping[str, Language] = {
    **dict.fromkeys((".py", ".pyi"), PYTHON),
    **dict.fromkeys((".js", ".mjs", ".cjs", ".jsx"), JAVASCRIPT),
    **dict.fromkeys((".ts", ".mts", ".cts"), TYPESCRIPT),
    ".tsx": TSX,
    ".rs": RUST,
    ".go": GO,
    **dict.fromkeys((".c", ".h"), C),
    **dict.fromkeys((".sh", ".bash"), BASH),
}


def language_of(path: str) -> Language | None:
    """The language of a file by the ending of its name."""
    name = path.rpartition("/")[2].lower()
    return BY_ENDING.get(name[name.rfind(".") :]) if "." in name else None


@cache
def grammar_of(language: Language) -> Grammar:
    from tree_sitter import Language as Grammar  # a compiled library, loaded when it is needed

    return Grammar(getattr(import_module(language.module), language.function)())
