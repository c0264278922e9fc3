"""Reads the head of a GGUF file: whether it is one, and how long its context may be.

The format: magic, version, counts of tensors and of key-value pairs, then the pairs; all numbers
are little-endian (https://github.com/ggml-org/ggml/blob/master/docs/gguf.md).
"""

from __future__ import annotations

import struct
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from octo_lab.core.errors import ConfigError

MAGIC = b"GGUF"
VERSIONS = (2, 3)
MAX_PAIRS = 4096
MAX_HEAD = 1_048_576  # the context's length stands before the long lists of the tokenizer
_TEXT, _LIST = 8, 9
_NUMBERS = dict(zip((0, 1, 2, 3, 4, 5, 6, 7, 10, 11, 12), "BbHhIif?Qqd", strict=True))


@dataclass(frozen=True, slots=True, kw_only=True)
class GgufFile:
    """``size`` in bytes; ``context`` in tokens, 0 where the file does not say."""

    path: Path
    size: int
    context: int


def read_gguf(path: Path) -> GgufFile:
    """Blocks on the disk; raises ConfigError for what is no such file."""
    try:
        if path.exists() and not path.is_file():  # a pipe would be waited for, for ever
            hint = "name a GGUF file that may be read"
            raise ConfigError(f"Cannot read the model file {str(path)!r}: it is no file", hint=hint)
        with path.open("rb") as file:
            version = _version(file)
            context = _context(file) if version in VERSIONS else 0
            size = path.stat().st_size
    except FileNotFoundError:
        hint = "local.model in the config, or `local/PATH` as a model's name, is its path"
        raise ConfigError(f"No model file {str(path)!r}", hint=hint) from None
    except (OSError, ValueError) as exc:  # a name with a NUL is a ValueError
        reason = exc.strerror if isinstance(exc, OSError) else exc
        message = f"Cannot read the model file {str(path)!r}: {reason}"
        raise ConfigError(message, hint="name a GGUF file that may be read") from None
    if version not in VERSIONS:
        hint = "llama.cpp runs models in the GGUF format, version 2 or 3"
        raise ConfigError(f"{str(path)!r} is no GGUF file", hint=hint)
    return GgufFile(path=path, size=size, context=context)


def _version(file: BinaryIO) -> int:
    head = file.read(8)
    return int(struct.unpack("<I", head[4:])[0]) if len(head) == 8 and head[:4] == MAGIC else 0


def _context(file: BinaryIO) -> int:
    """The value of ``<architecture>.context_length``."""
    try:
        _, pairs = struct.unpack("<QQ", file.read(16))
        for _ in range(min(pairs, MAX_PAIRS)):
            key = _text(file)
            (kind,) = struct.unpack("<I", file.read(4))
            value = _value(file, kind)
            if key.endswith(b".context_length") and isinstance(value, int):
                return max(value, 0)
    except (struct.error, KeyError, ValueError):
        pass  # llama.cpp says what is wrong when it reads the whole file
    return 0


def _value(file: BinaryIO, kind: int) -> object:
    if kind == _TEXT:
        return _text(file)
    if kind != _LIST:
        return _number(file, kind)
    (of, count) = struct.unpack("<IQ", file.read(12))
    if of == _TEXT:
        for _ in range(min(count, MAX_HEAD)):
            _text(file)
    else:
        _skip(file, count * struct.calcsize(f"<{_NUMBERS[of]}"))
    return None


def _skip(file: BinaryIO, size: int) -> None:
    if file.tell() + size > MAX_HEAD:
        raise ValueError("too long")
    file.seek(size, 1)


def _text(file: BinaryIO) -> bytes:
    (length,) = struct.unpack("<Q", file.read(8))
    if file.tell() + length > MAX_HEAD:
        raise ValueError("too long")
    text = file.read(length)
    if len(text) < length:
        raise ValueError("the file ends")
    return text


def _number(file: BinaryIO, kind: int) -> int | float:
    form = f"<{_NUMBERS[kind]}"
    value: int | float = struct.unpack(form, file.read(struct.calcsize(form)))[0]
    return value
