"""The unified diff of two texts, in the form of ``diff -u``."""

from __future__ import annotations

import difflib
from collections.abc import Iterator, Sequence

_AROUND = 3
_LARGEST = 5_000
NO_END = "\\ No newline at end of file"

Opcode = tuple[str, int, int, int, int]


def unified_diff(path: str, before: str | None, after: str | None) -> str:
    """What changed, with three lines around each change; empty when nothing did.

    None stands for no file. Of texts that differ in very many lines, all of those are shown as
    one change.
    """
    if before == after:
        return ""
    old, new = split_lines(before or ""), split_lines(after or "")
    head = [
        "--- /dev/null" if before is None else f"--- a/{path}",
        "+++ /dev/null" if after is None else f"+++ b/{path}",
    ]
    if not (old or new):
        return "\n".join(head) + "\n"
    hunks = [line for group in _groups(old, new) for line in _hunk(group, old, new)]
    return "\n".join([*head, *hunks]) + "\n"


def split_lines(text: str) -> list[str]:
    """The lines with their ends; only a line feed ends one."""
    lines = text.split("\n")
    last = lines.pop()
    return [*(f"{line}\n" for line in lines), *([last] if last else [])]


def _groups(old: Sequence[str], new: Sequence[str]) -> Iterator[list[Opcode]]:
    """The changes, joined where less than six lines part them."""
    *codes, last = _opcodes(old, new)
    group: list[Opcode] = []
    for code in codes:
        tag, i1, i2, _, j2 = code
        if tag != "equal" or (group and i2 - i1 <= 2 * _AROUND):
            group.append(code)
            continue
        if group:
            yield [*group, _first(code)]
        lead = min(_AROUND, i2 - i1)
        group = [("equal", i2 - lead, i2, j2 - lead, j2)]
    yield [*group, _first(last)]


def _first(code: Opcode) -> Opcode:
    """What of equal lines is shown after a change."""
    tag, i1, i2, j1, j2 = code
    return tag, i1, min(i2, i1 + _AROUND), j1, min(j2, j1 + _AROUND)


def _opcodes(old: Sequence[str], new: Sequence[str]) -> list[Opcode]:
    """How ``old`` becomes ``new``; what both begin and end with costs nothing."""
    start = 0
    shorter = min(len(old), len(new))
    while start < shorter and old[start] == new[start]:
        start += 1
    end = 0
    while end < shorter - start and old[-1 - end] == new[-1 - end]:
        end += 1
    old_end, new_end = len(old) - end, len(new) - end
    inner = _inner(old[start:old_end], new[start:new_end])
    codes = [(tag, a + start, b + start, c + start, d + start) for tag, a, b, c, d in inner]
    return [
        ("equal", 0, start, 0, start),
        *codes,
        ("equal", old_end, len(old), new_end, len(new)),
    ]


def _inner(old: Sequence[str], new: Sequence[str]) -> list[Opcode]:
    if len(old) + len(new) > _LARGEST:
        return [("replace", 0, len(old), 0, len(new))]
    return list(difflib.SequenceMatcher(None, old, new).get_opcodes())


def _hunk(group: list[Opcode], old: Sequence[str], new: Sequence[str]) -> Iterator[str]:
    _, i1, _, j1, _ = group[0]
    _, _, i2, _, j2 = group[-1]
    yield f"@@ -{_range(i1, i2)} +{_range(j1, j2)} @@"
    for tag, a, b, c, d in group:
        if tag == "equal":
            yield from _lines(" ", old[a:b])
        else:
            yield from _lines("-", old[a:b])
            yield from _lines("+", new[c:d])


def _range(start: int, end: int) -> str:
    length = end - start
    first = start + 1 if length else start
    return f"{first}" if length == 1 else f"{first},{length}"


def _lines(sign: str, lines: Sequence[str]) -> Iterator[str]:
    for line in lines:
        yield sign + line.removesuffix("\n")
        if not line.endswith("\n"):
            yield NO_END
