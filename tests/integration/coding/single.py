"""Repositories that are mended in one file."""

from __future__ import annotations

import re

from tests.integration.coding.programmer import Work, asking, expect, lines, run, use
from tests.integration.coding.repository import Repository, text

TESTS = "python3 -B -m unittest -q"
BOM = b"\xef\xbb\xbf"


def _off_by_one() -> Work:
    expect((yield from use("list_dir")), "pager.py", "test_pager.py")
    failed = expect((yield from run(TESTS)), "[[1, 2], [3, 4]] != [[1, 2], [3, 4], [5]]")
    expect(failed, "FAILED (failures=1)")
    read = lines((yield from use("read_file", path="pager.py")))
    wrong = next(line for line in read.values() if "range(" in line)
    right = wrong.replace("len(items) - 1", "len(items)")
    yield from use("edit_file", path="pager.py", old_string=wrong, new_string=right)
    expect((yield from run(TESTS)), "OK", "[exit code 0]")
    return "The last page was left out."


_PAGER = text(
    "def pages(items, size):",
    "    return [items[i : i + size] for i in range(0, len(items) - 1, size)]",
)
OFF_BY_ONE = Repository(
    name="off_by_one",
    files={
        "pager.py": _PAGER,
        "test_pager.py": text(
            "import unittest",
            "from pager import pages",
            "",
            "class Pages(unittest.TestCase):",
            "    def test_the_last_page_may_be_short(self):",
            "        self.assertEqual(pages([1, 2, 3, 4, 5], 2), [[1, 2], [3, 4], [5]])",
        ),
    },
    mended={"pager.py": _PAGER.replace(b"len(items) - 1", b"len(items)")},
    work=_off_by_one,
)


def _encoding() -> Work:
    failed = expect((yield from run(TESTS)), "UnicodeDecodeError", "0xfc in position 1")
    place = re.search(r'/(reader\.py)", line (\d+)', failed)
    assert place, failed
    shown = lines((yield from use("read_file", path=place[1])))
    wrong = f"{shown[int(place[2]) - 1]}\n{shown[int(place[2])]}"
    right = wrong.replace('"utf-8"', '"latin-1"')
    yield from use("edit_file", path=place[1], old_string=wrong, new_string=right)
    expect((yield from run(TESTS)), "OK", "[exit code 0]")
    return "The names are in Latin-1."


_READER = BOM + text(
    "# Names: ä, ö, ü",
    "def names(path):",
    '    with open(path, encoding="utf-8") as file:',
    "        return file.read().split()",
    end="\r\n",
)
ENCODING = Repository(
    name="crlf_and_wrong_encoding",
    files={
        "reader.py": _READER,
        "names.txt": "Müller Jörg\r\n".encode("latin-1"),
        "test_reader.py": text(
            "import unittest",
            "from reader import names",
            "",
            "class Names(unittest.TestCase):",
            "    def test_umlauts_are_read(self):",
            '        self.assertEqual(names("names.txt"), ["M\\u00fcller", "J\\u00f6rg"])',
        ),
    },
    mended={"reader.py": _READER.replace(b"utf-8", b"latin-1")},
    modes={"reader.py": 0o640},
    work=_encoding,
)


def _config() -> Work:
    failed = expect((yield from run(TESTS)), "JSONDecodeError", "line 4 column 1")
    expect(failed, "double quotes")
    shown = lines((yield from use("read_file", path="app/config.json")))
    broken = shown[3]
    whole = broken.rstrip(",")
    yield from use("edit_file", path="app/config.json", old_string=broken, new_string=whole)
    failed = expect((yield from run(TESTS)), "'8080' != 8080")
    right = whole.replace('"8080"', "8080")
    yield from use("edit_file", path="app/config.json", old_string=whole, new_string=right)
    expect((yield from run(TESTS)), "OK", "[exit code 0]")
    return "A comma too many, and a number in quotes."


_CONFIG = text("{", '\t"host": "localhost",', '\t"port": "8080",', "}")
CONFIG = Repository(
    name="wrong_json_config",
    files={
        "app/config.json": _CONFIG,
        "test_config.py": text(
            "import json, pathlib, unittest",
            "",
            "class Config(unittest.TestCase):",
            "    def test_the_port_is_a_number(self):",
            '        config = json.loads(pathlib.Path("app/config.json").read_text())',
            '        pathlib.Path("seen.log").write_text("read\\n")',
            '        self.assertEqual(config["port"], 8080)',
        ),
    },
    mended={"app/config.json": _CONFIG.replace(b'"8080",', b"8080")},
    left={"seen.log": b"read\n"},
    work=_config,
)


def _script() -> Work:
    failed = expect((yield from run("sh test.sh")), "expected: Hello, Ada  Lovelace!")
    expect(failed, "got: Hello, Ada Lovelace!", "[exit code 1]")
    found = expect((yield from use("grep", pattern=r"\$[*@]", path=".")), "greet.sh")
    place = re.search(r"(greet\.sh)\D(\d+)", found)
    assert place, found
    shown = lines((yield from use("read_file", path=place[1])))
    wrong = shown[int(place[2])]
    yield from use("edit_file", path=place[1], old_string=wrong, new_string='name="$1"')
    expect((yield from run("./greet.sh 'x  y' && sh test.sh")), "Hello, x  y!", "ok", "code 0]")
    return "The name was split into words."


_SCRIPT = text("#!/bin/sh", "name=$(echo $*)", 'printf "Hello, %s!\\n" "$name"')
SCRIPT = Repository(
    name="failing_command_line",
    files={
        "greet.sh": _SCRIPT,
        "test.sh": text(
            'got=$(./greet.sh "Ada  Lovelace")',
            'want="Hello, Ada  Lovelace!"',
            'if [ "$got" = "$want" ]; then echo ok; exit 0; fi',
            'echo "expected: $want"; echo "got: $got"; exit 1',
        ),
    },
    mended={"greet.sh": _SCRIPT.replace(b"$(echo $*)", b'"$1"')},
    modes={"greet.sh": 0o755},
    work=_script,
)


def _long() -> Work:
    failed = expect((yield from run(TESTS)), "4217 is squared wrong: 17783088")
    wrong = re.search(r"squared wrong: (\d+)", failed)
    assert wrong
    found = yield from use("grep", pattern=rf"\b{wrong[1]}\b", path="table.py")
    place = re.search(r"table\.py\D(\d+)", found)
    assert place, found
    at = int(place[1])
    near = yield from use("read_file", path="table.py", start_line=at - 1, end_line=at + 1)
    unsure = yield from use("edit_file", path="table.py", old_string="    177", new_string="    0")
    expect(unsure, "occurs 17 times", "add lines around it")
    line = lines(near)[at]
    yield from use("edit_file", path="table.py", old_string=line, new_string=f"    {4217 * 4217},")
    expect((yield from run(TESTS)), "OK", "[exit code 0]")
    return f"Line {at} was wrong."


_TABLE = text("SQUARES = [", *(f"    {n * n}," for n in range(9000)), "]")
LONG = Repository(
    name="one_wrong_line_of_nine_thousand",
    files={
        "table.py": _TABLE.replace(b"    17783089,", b"    17783088,"),
        "test_table.py": text(
            "import unittest",
            "from table import SQUARES",
            "",
            "class Squares(unittest.TestCase):",
            "    def test_all_are_right(self):",
            "        for n, found in enumerate(SQUARES):",
            '            self.assertEqual(found, n * n, f"{n} is squared wrong: {found}")',
        ),
    },
    mended={"table.py": _TABLE},
    work=_long,
)


def _drift() -> Work:
    shown, failed = yield [
        asking("read_file", path="queue.txt"),
        asking("shell", command="cat /proc/1/comm; sh check.sh"),
    ]
    expect(failed, "job 14 comes twice", "[exit code 1]")
    at = next(number for number, line in lines(shown).items() if line == "job 14 again")
    bad = f"@@ -{at},2 +{at},1 @@\n-job 14 again\n job 51\n"
    refused = yield from use("diff_edit", path="queue.txt", diff=bad)
    expect(refused, "job 51")
    near = lines((yield from use("read_file", path="queue.txt", start_line=at - 1)))
    hunk = f" {near[at - 1]}\n-{near[at]}\n {near[at + 1]}\n"
    drifted = f"--- a/queue.txt\n+++ b/queue.txt\n@@ -{at + 1},3 +{at + 1},2 @@\n{hunk}"
    expect((yield from use("diff_edit", path="queue.txt", diff=drifted)), "1 hunk applied")
    expect((yield from run("sh check.sh")), "fine", "[exit code 0]")
    return "It was there twice."


_JOBS = [f"job {n}" for n in range(1, 31)]
DRIFT = Repository(
    name="a_diff_whose_lines_have_moved",
    files={
        "queue.txt": text(*_JOBS[:14], "job 14 again", *_JOBS[14:])[:-1],
        "check.sh": text(
            "twice=$(cut -d' ' -f2 queue.txt | sort -n | uniq -d)",
            'if [ -n "$twice" ]; then echo "job $twice comes twice"; exit 1; fi',
            "echo fine",
        ),
    },
    mended={"queue.txt": text(*_JOBS)[:-1]},
    work=_drift,
)

SINGLE = (OFF_BY_ONE, ENCODING, CONFIG, SCRIPT, LONG, DRIFT)
