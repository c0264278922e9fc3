"""The shape of the code, checked like any other behaviour."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

import octo_lab

ROOT = Path(octo_lab.__file__).parent
TESTS = Path(__file__).parents[1]
MODULES = sorted(ROOT.rglob("*.py"))
FORBIDDEN_NAMES = ("utils", "helpers", "manager", "base", "common", "misc")


@pytest.mark.parametrize("module", MODULES, ids=lambda m: str(m.relative_to(ROOT)))
def test_module_fits_on_a_desk(module: Path) -> None:
    source = module.read_text(encoding="utf-8")
    tree = ast.parse(source)

    assert source.count("\n") <= 400
    assert ast.get_docstring(tree), "say in one line what this module is for"
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            assert _body_lines(node) <= 50, node.name


@pytest.mark.parametrize("module", MODULES, ids=lambda m: str(m.relative_to(ROOT)))
def test_module_has_a_name_of_its_own(module: Path) -> None:
    assert module.stem not in FORBIDDEN_NAMES


def test_tests_use_no_mock_or_patch() -> None:
    users = [
        str(path.relative_to(TESTS))
        for path in TESTS.rglob("*.py")
        if path != Path(__file__) and _mocks(path.read_text(encoding="utf-8"))
    ]

    assert users == []


def test_own_modules_are_imported_at_the_top() -> None:
    lazy = [
        f"{path.relative_to(ROOT)}:{node.lineno}"
        for path in MODULES
        for node in _inner_imports(ast.parse(path.read_text(encoding="utf-8")))
        if _imports_own(node) and path.relative_to(ROOT).as_posix() not in LAZY_BY_DESIGN
    ]

    assert lazy == []


# Faces that must start fast load the runtime when it is first needed.
LAZY_BY_DESIGN = frozenset(
    {"cli/main.py", "cli/tool_commands.py", "cli/connect.py", "notebook/magics.py"}
)


def _body_lines(node: ast.FunctionDef | ast.AsyncFunctionDef) -> int:
    body = node.body[1:] if ast.get_docstring(node) else node.body
    return (node.end_lineno or 0) - body[0].lineno + 1 if body else 0


def _mocks(source: str) -> bool:
    return any(word in source for word in ("unittest.mock", "monkeypatch", "MagicMock", "mocker"))


def _inner_imports(tree: ast.Module) -> list[ast.Import | ast.ImportFrom]:
    functions = [n for n in ast.walk(tree) if isinstance(n, ast.FunctionDef | ast.AsyncFunctionDef)]
    return [
        node
        for function in functions
        for node in ast.walk(function)
        if isinstance(node, ast.Import | ast.ImportFrom)
    ]


def _imports_own(node: ast.Import | ast.ImportFrom) -> bool:
    if isinstance(node, ast.ImportFrom):
        return (node.module or "").startswith("octo_lab")
    return any(alias.name.startswith("octo_lab") for alias in node.names)
