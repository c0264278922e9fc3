"""Reads text as it looks: one letter for every letter that looks like it, nothing for the unseen.

``folded`` follows Unicode's NFKC and the idea of its confusables (UTS 39), for the alphabets that
are used to imitate Latin: Cyrillic, Greek, full-width, mathematical, circled, small capitals.
"""

from __future__ import annotations

import re
import unicodedata
from itertools import accumulate

_ALIKE = {
    "a": "аɑαạᴀⲁ",
    "b": "ЬʙƄ",
    "c": "сϲᴄⅽ",
    "d": "ԁɗᴅⅾ",
    "e": "еєεҽᴇ℮ɛ",
    "f": "ғꜰƒ",
    "g": "ɡɢց",
    "h": "һʜн",
    "i": "іıɩɪӏι",
    "j": "јʝᴊ",
    "k": "кκᴋ",
    "l": "ⅼʟ",
    "m": "мᴍⅿ",
    "n": "ոпɴη",
    "o": "оοσօᴏ",
    "p": "рρᴘ",
    "q": "ԛգ",
    "r": "гʀᴦ",
    "s": "ѕꜱƽ",
    "t": "тτᴛ",
    "u": "υսᴜʋ",
    "v": "ѵνᴠⅴ",
    "w": "ԝѡᴡω",
    "x": "хχⅹ",
    "y": "уγʏү",
    "z": "ᴢʐ",
    "<": "‹〈⟨〈《≺ᐸ⋖❮❬˂",
    ">": "›〉⟩〉》≻ᐳ⋗❯❭˃",
    "/": "⁄∕╱⧸",
    "-": "‐‑‒–—−﹣",
    "'": "’‘ʼ`´",
    '"': "“”„«»",
    "|": "∣ǀ❘",
    ":": "∶꞉ː",
}
_LATIN = {look: letter for letter, looks in _ALIKE.items() for look in looks}
_MARKS = ((0x300, 0x36F), (0x1AB0, 0x1AFF), (0x1DC0, 0x1DFF), (0x20D0, 0x20FF), (0xFE20, 0xFE2F))
_UNSEEN = (
    (0x00AD, 0x00AD),
    (0x034F, 0x034F),
    (0x061C, 0x061C),
    (0x115F, 0x1160),
    (0x17B4, 0x17B5),
    (0x180B, 0x180F),
    (0x200B, 0x200F),
    (0x202A, 0x202E),
    (0x2060, 0x206F),
    (0x3164, 0x3164),
    (0xFE00, 0xFE0F),
    (0xFEFF, 0xFEFF),
    (0xFFA0, 0xFFA0),
    (0xFFF0, 0xFFFB),
    (0x1D173, 0x1D17A),
    (0xE0000, 0xE0FFF),
)
_CONTROLS = {chr(code): "" for code in (*range(9), 11, 12, *range(14, 32), 127)}
_CONTROL = re.compile("[" + "".join(_CONTROLS) + "]")


def folded(text: str) -> str:
    """The text in lower case as a reader takes it in; not of the same length."""
    if text.isascii():
        return _CONTROL.sub("", text).lower()
    return text.translate(_table(text))


def found_in(text: str, pattern: re.Pattern[str]) -> list[tuple[int, int]]:
    """Where ``pattern`` matches the folded text, as positions in ``text`` itself."""
    seen = folded(text)
    spans = [match.span() for match in pattern.finditer(seen)]
    if not spans or (text.isascii() and len(seen) == len(text)):
        return spans
    table = _table(text)
    ends = list(accumulate(len(table.get(ord(char), char)) for char in text))
    return _own_spans(spans, ends)


def unseen(text: str) -> int:
    """How many characters nobody sees: zero-width, bidirectional, tag characters."""
    if text.isascii():
        return 0
    return sum(text.count(char) for char in set(text) if _within(ord(char), _UNSEEN))


def imitations(text: str) -> int:
    """How many letters of other alphabets stand within words that have Latin ones, too."""
    if text.isascii():
        return 0
    words = [word for word in text.split() if not word.isascii()]
    return sum(_imitated(word) for word in words)


def _imitated(word: str) -> int:
    letters = [char for char in word.lower() if char.isalpha()]
    latin = sum(char.isascii() for char in letters)
    alike = sum(char in _LATIN or _styled(char) for char in letters)
    return alike if latin + alike == len(letters) and (latin or _all_styled(letters)) else 0


def _styled(char: str) -> bool:
    return 0x1D400 <= ord(char) <= 0x1D7FF


def _all_styled(letters: list[str]) -> bool:
    return len(letters) > 2 and all(map(_styled, letters))


def _own_spans(spans: list[tuple[int, int]], ends: list[int]) -> list[tuple[int, int]]:
    """Each span of the folded text, by where its first and last character come from."""
    found: list[tuple[int, int]] = []
    at = 0
    for start, end in spans:
        while ends[at] <= start:
            at += 1
        first = at
        while ends[at] < end:
            at += 1
        found.append((first, at + 1))
    return found


def _table(text: str) -> dict[int, str]:
    """What becomes of each character that occurs; as many entries as there are kinds of them."""
    return {ord(char): _look(char) for char in set(text)}


def _look(char: str) -> str:
    code = ord(char)
    if char in _CONTROLS or _within(code, _UNSEEN) or _within(code, _MARKS):
        return ""
    if code < 0x80:
        return char.lower()
    plain = unicodedata.normalize("NFKC", char).casefold()
    if code < 0x590 or 0x1D00 <= code < 0x2000:
        parts = unicodedata.normalize("NFKD", plain)
        plain = "".join(part for part in parts if not _within(ord(part), _MARKS))
    plain = "".join(_LATIN.get(part, part) for part in plain)
    return " " if plain.isspace() and plain not in ("\n", "\r") else plain


def _within(code: int, ranges: tuple[tuple[int, int], ...]) -> bool:
    return any(first <= code <= last for first, last in ranges)
