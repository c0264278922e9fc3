"""Repositories that are mended in several files, or by files that come and go."""

from __future__ import annotations

import re

from tests.integration.coding.programmer import Work, asking, expect, lines, run, use
from tests.integration.coding.repository import Repository, text
from tests.integration.coding.single import TESTS


def _rename() -> Work:
    expect((yield from run(TESTS)), "cannot import name 'surface' from 'shapes'")
    found = yield from use("grep", pattern=r"\barea\b", path=".")
    paths = sorted(set(re.findall(r"([\w/]+\.py)\D\d+", found)))
    assert paths == ["draw/svg.py", "report.py", "shapes.py"], found
    edits = [
        asking("edit_file", path=path, old_string="area", new_string="surface", replace_all=True)
        for path in paths
    ]
    for done in (yield edits):
        expect(done, "Edited")
    expect((yield from use("grep", pattern=r"\barea\b", path=".")), "No match")
    expect((yield from run(TESTS)), "OK", "[exit code 0]")
    return "Renamed in three files."


_SHAPES = text("def area(width, height):", "    return width * height")
_REPORT = text("import shapes", "", "def line(w, h):", '    return f"area: {shapes.area(w, h)}"')
_SVG = text("from shapes import area", "", "def big(w, h):", "    return area(w, h) > 100")
RENAME = Repository(
    name="a_name_in_three_files",
    files={
        "shapes.py": _SHAPES,
        "report.py": _REPORT,
        "draw/svg.py": _SVG,
        "test_surface.py": text(
            "import unittest",
            "from shapes import surface",
            "from report import line",
            "from draw.svg import big",
            "",
            "class Surface(unittest.TestCase):",
            "    def test_all_use_the_new_name(self):",
            '        self.assertEqual((surface(2, 3), line(2, 3), big(2, 3)), (6, "surface: 6",'
            " False))",
        ),
    },
    mended={
        "shapes.py": _SHAPES.replace(b"area", b"surface"),
        "report.py": _REPORT.replace(b"area", b"surface"),
        "draw/svg.py": _SVG.replace(b"area", b"surface"),
    },
    work=_rename,
)


def _missing() -> Work:
    failed = expect((yield from run(TESTS)), "No module named 'text'")
    place = re.search(r'/(test_\w+\.py)", line (\d+)', failed)
    assert place, failed
    read = yield from use("read_file", path=place[1])
    expect(read, 'slug("Crème brûlée!")', '"creme-brulee"')
    name = re.search(r"from ([\w.]+) import", lines(read)[int(place[2])])
    assert name, read
    path = name[1].replace(".", "/") + ".py"
    made = yield from use("write_file", path=path, content=_SLUGS_FIRST.decode())
    expect(made, f"Made '{path}'")
    expect((yield from run(TESTS)), "'creme-brulee-' != 'creme-brulee'")
    yield from use("write_file", path=path, content=_SLUGS.decode())
    expect((yield from run(TESTS)), "OK", "[exit code 0]")
    return f"{path} was missing."


_SLUGS_FIRST = text(
    "import re, unicodedata",
    "",
    "def slug(text):",
    '    plain = unicodedata.normalize("NFKD", text).encode("ascii", "ignore").decode()',
    '    return re.sub(r"[^a-z0-9]+", "-", plain.lower())',
)
_SLUGS = _SLUGS_FIRST.replace(b"lower())", b'lower()).strip("-")')
MISSING = Repository(
    name="a_missing_module",
    files={
        "test_slugs.py": text(
            "import unittest",
            "from text.slugs import slug",
            "",
            "class Slugs(unittest.TestCase):",
            "    def test_accents_and_signs_go(self):",
            '        self.assertEqual(slug("Crème brûlée!"), "creme-brulee")',
        ),
        "README": "Ein Päckchen, ohne Ende".encode(),
    },
    mended={"text/slugs.py": _SLUGS},
    work=_missing,
)


def _nested() -> Work:
    failed = expect((yield from run(TESTS)), "ImportError", "beyond top-level package")
    expect((yield from use("glob", pattern="shop/**/*.py")), "shop/stock/count/rows.py")
    path, number = re.findall(r'/(shop/[\w/]+\.py)", line (\d+)', failed)[-1]
    shown = lines((yield from use("read_file", path=path)))
    wrong = shown[int(number)]
    diff = f"@@ -{number} +{number} @@\n-{wrong}\n+{wrong.replace('....', '...')}\n"
    expect((yield from use("diff_edit", path=path, diff=diff)), "applied")
    expect((yield from run(TESTS)), "cannot import name 'total'")
    empty = expect((yield from use("read_file", path="shop/__init__.py")), "(empty file)")
    assert empty
    export = "@@ -0,0 +1 @@\n+from .stock.count.rows import total\n"
    expect((yield from use("diff_edit", path="shop/__init__.py", diff=export)), "applied")
    expect((yield from run(TESTS)), "OK", "[exit code 0]")
    return "One dot too many, and nothing was exported."


_ROWS = text(
    "from ....prices import PRICES",
    "",
    "def total(names):",
    "    return sum(PRICES[name] for name in names)",
)
NESTED = Repository(
    name="nested_packages",
    files={
        "shop/__init__.py": b"",
        "shop/prices.py": text('PRICES = {"tea": 3, "cup": 5}'),
        "shop/stock/__init__.py": b"",
        "shop/stock/count/__init__.py": b"",
        "shop/stock/count/rows.py": _ROWS,
        "test_shop.py": text(
            "import unittest",
            "import shop.stock.count.rows",
            "from shop import total",
            "",
            "class Total(unittest.TestCase):",
            "    def test_prices_are_added(self):",
            '        self.assertEqual(total(["tea", "cup"]), 8)',
        ),
    },
    mended={
        "shop/__init__.py": text("from .stock.count.rows import total"),
        "shop/stock/count/rows.py": _ROWS.replace(b"....", b"..."),
    },
    work=_nested,
)


def _shadow() -> Work:
    failed = expect((yield from run(TESTS)), "has no attribute 'dumps'")
    expect(failed, "json")
    listed = expect((yield from use("list_dir")), "json.py")
    assert "dump.py" in listed
    shown = lines((yield from use("read_file", path="json.py")))
    removed = "".join(f"-{line}\n" for line in shown.values())
    diff = f"--- a/json.py\n+++ /dev/null\n@@ -1,{len(shown)} +0,0 @@\n{removed}"
    expect((yield from use("diff_edit", path="json.py", diff=diff)), "Deleted 'json.py'")
    expect((yield from run(TESTS)), "OK", "[exit code 0]")
    return "A file of the name of a standard module stood in its way."


SHADOW = Repository(
    name="a_file_to_delete",
    files={
        "json.py": text("# an old try", "def dump(value):", "    return str(value)")[:-1],
        "dump.py": text("import json", "", "def shown(value):", "    return json.dumps(value)"),
        "test_dump.py": text(
            "import unittest",
            "from dump import shown",
            "",
            "class Shown(unittest.TestCase):",
            "    def test_a_list_is_json(self):",
            "        self.assertEqual(shown([1, None]), '[1, null]')",
        ),
    },
    mended={"json.py": None},
    modes={"json.py": 0o750},
    work=_shadow,
)

SEVERAL = (RENAME, MISSING, NESTED, SHADOW)
