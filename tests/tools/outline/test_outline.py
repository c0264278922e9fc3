from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from octo_lab.tools.outline.languages import (
    BASH,
    BY_ENDING,
    GO,
    JAVASCRIPT,
    PYTHON,
    RUST,
    TSX,
    TYPESCRIPT,
    C,
    Language,
    language_of,
)
from octo_lab.tools.outline.outline import Definition, Outline, outline


def lines(source: str, language: Language) -> list[str]:
    found = outline(source.encode(), language)
    assert not found.broken
    return [f"{one.line} {'  ' * one.depth}{one.signature}" for one in found.definitions]


def test_python() -> None:
    source = '''import x

@deco
class A(B):
    """d"""
    def f(self, a: int = 1,
          b=2) -> str:
        def inner(): pass
    async def g(self): ...
    class In: pass

if x:
    def top(*a, **k): return 1
y = lambda: 1
'''
    assert lines(source, PYTHON) == [
        "4 class A(B)",
        "6   def f(self, a: int = 1, b=2) -> str",
        "9   async def g(self)",
        "10   class In",
        "13 def top(*a, **k)",
    ]


def test_javascript() -> None:
    source = """export default class A extends B {
  m(a) { return () => 1 }
  f = (x) => x;
  static async *g() {}
}
export const h = async (a, b) => { function in_() {} };
function k() {}
const z = 1;
module.exports = { q() {} };
"""
    assert lines(source, JAVASCRIPT) == [
        "1 class A extends B",
        "2   m(a)",
        "3   f = (x)",
        "4   static async *g()",
        "6 h = async (a, b)",
        "7 function k()",
        "9 q()",
    ]


@pytest.mark.parametrize("language", [TYPESCRIPT, TSX])
def test_typescript(language: Language) -> None:
    source = """interface I<T> { a: string; m(x: number): void }
type X = A | B;
enum E { A }
abstract class C implements I { constructor(private y: string) {} abstract z(): void; }
namespace N { export function f(a: string): void {} }
export const g = <T,>(a: T): T => a;
declare function d(): void;
"""
    assert lines(source, language) == [
        "1 interface I<T>",
        "1   m(x: number): void",
        "2 type X = A | B",
        "3 enum E",
        "4 abstract class C implements I",
        "4   constructor(private y: string)",
        "4   abstract z(): void",
        "5 namespace N",
        "5   function f(a: string): void",
        "6 g = <T,>(a: T): T",
        "7 function d(): void",
    ]


def test_rust() -> None:
    source = """pub struct S<T> { a: T }
enum E { A }
impl<T> Tr for S<T> where T: Copy { fn f(&self) -> i32 { 1 } }
pub trait Tr { fn f(&self) -> i32; }
mod m { pub async fn g() {} }
macro_rules! mm { () => {} }
"""
    assert lines(source, RUST) == [
        "1 pub struct S<T>",
        "2 enum E",
        "3 impl<T> Tr for S<T> where T: Copy",
        "3   fn f(&self) -> i32",
        "4 pub trait Tr",
        "4   fn f(&self) -> i32",
        "5 mod m",
        "5   pub async fn g()",
        "6 macro_rules! mm",
    ]


def test_go() -> None:
    source = """package a
type S struct { A int }
type I interface { F() }
type (
    A = int
)
func (s *S) M(a int) (int, error) { return 1, nil }
func F[T any](x T) {}
"""
    assert lines(source, GO) == [
        "2 type S struct",
        "3 type I interface",
        "5 type A = int",
        "7 func (s *S) M(a int) (int, error)",
        "8 func F[T any](x T)",
    ]


def test_c() -> None:
    source = """#include <x.h>
#define M(a) (a)
typedef struct { int a; } T;
struct S { int b; };
static int f(int a,
             char *b)
{ return 1; }
struct S *g(void) { return 0; }
"""
    assert lines(source, C) == [
        "2 #define M(a) (a)",
        "3 typedef struct T",
        "4 struct S",
        "5 static int f(int a, char *b)",
        "8 struct S *g(void)",
    ]


def test_bash() -> None:
    assert lines("#!/bin/bash\nfoo() {\n echo\n}\nfunction bar { :; }\n", BASH) == [
        "2 foo()",
        "5 function bar",
    ]


def test_code_with_errors_gives_what_can_be_seen() -> None:
    assert outline(b"class A:\n  def g(self): pass\ndef h(x", PYTHON) == Outline(
        definitions=(
            Definition(line=1, depth=0, signature="class A"),
            Definition(line=2, depth=1, signature="def g(self)"),
        ),
        broken=True,
    )


def test_code_nested_without_end_is_no_trouble() -> None:
    assert outline(b"(" * 50_000, PYTHON).definitions == ()
    deep = b"".join(b" " * depth + b"class A:\n" for depth in range(1000))
    assert outline(deep, PYTHON).definitions


@settings(max_examples=30)
@given(st.binary(max_size=200), st.sampled_from(sorted(BY_ENDING)))
def test_every_input_has_an_outline(source: bytes, ending: str) -> None:
    outline(source, BY_ENDING[ending])


@pytest.mark.parametrize(
    ("path", "language"),
    [("a/b.py", PYTHON), ("B.TS", TYPESCRIPT), ("py", None), ("a.py/b", None), ("c.tar.sh", BASH)],
)
def test_the_ending_tells_the_language(path: str, language: Language | None) -> None:
    assert language_of(path) == language
