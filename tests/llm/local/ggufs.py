"""Writes small GGUF files."""

from __future__ import annotations

import struct
from pathlib import Path


def text(value: str) -> bytes:
    data = value.encode()
    return struct.pack("<Q", len(data)) + data


def pair(key: str, value: str | int) -> bytes:
    if isinstance(value, str):
        return text(key) + struct.pack("<I", 8) + text(value)
    return text(key) + struct.pack("<II", 4, value)


def write_gguf(path: Path, *pairs: bytes, version: int = 3, count: int | None = None) -> Path:
    number = len(pairs) if count is None else count
    path.write_bytes(b"GGUF" + struct.pack("<IQQ", version, 0, number) + b"".join(pairs))
    return path
